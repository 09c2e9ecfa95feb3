package verdict

import (
	"math"
	"slices"
	"testing"
)

func TestMedian(t *testing.T) {
	for _, tt := range []struct {
		values []float64
		want   float64
	}{
		{[]float64{3}, 3},
		{[]float64{9, 1, 5}, 5},
		{[]float64{8, 2, 4, 6}, 5},
		{[]float64{-1, -3}, -2},
	} {
		given := slices.Clone(tt.values)
		if got := Median(tt.values); got != tt.want || !slices.Equal(tt.values, given) {
			t.Errorf("Median(%v) = %v, want %v; it left %v", given, got, tt.want, tt.values)
		}
	}
	if got := Median(nil); !math.IsNaN(got) {
		t.Errorf("Median of nothing is %v", got)
	}
}
