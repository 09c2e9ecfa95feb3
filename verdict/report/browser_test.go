package report

import (
	"context"
	_ "embed" // testdata/inspect.js
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"

	"github.com/msgpath/msgpath/counters"
)

// inspect returns a list of what is wrong with the page that is shown.
//
//go:embed testdata/inspect.js
var inspect string

// unfold opens all of the page and returns how high it is.
const unfold = `for (const d of document.querySelectorAll("details")) d.open = true; document.documentElement.scrollHeight`

// screenshots is a folder that pictures of each page are written to.
const screenshots = "MSGPATH_SCREENSHOTS"

// browser starts Chromium and returns a context for [chromedp]. Without Chromium
// the test is skipped, but with MSGPATH_REQUIRE_CHROMIUM=1 it fails. Pages do not
// depend on the build, and are looked at in one.
func browser(t *testing.T) context.Context {
	t.Helper()
	if counters.Enabled {
		t.Skip("pages are the same in both builds: the production build looks at them")
	}
	program := chromium()
	if program == "" {
		if os.Getenv("MSGPATH_REQUIRE_CHROMIUM") == "1" {
			t.Fatal("Chromium is required and not in PATH")
		}
		t.Skip("NOT CHECKED IN A BROWSER: Chromium is not in PATH")
	}
	ctx, cancel := context.WithTimeout(t.Context(), 6*time.Minute) // seconds, where no other test is running
	t.Cleanup(cancel)
	ctx, stop := chromedp.NewExecAllocator(ctx, append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(program), chromedp.UserDataDir(t.TempDir()),
		chromedp.NoSandbox, chromedp.DisableGPU)...)
	t.Cleanup(stop)
	ctx, closeTab := chromedp.NewContext(ctx)
	t.Cleanup(closeTab)
	if err := chromedp.Do(ctx); err != nil { // starts it, for all that is made of ctx
		t.Fatal(err)
	}
	return ctx
}

func chromium() string {
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if program, err := exec.LookPath(name); err == nil {
			return program
		}
	}
	return ""
}

// A view is how a reader looks at a page.
type view struct {
	width  int64
	scheme string // light, dark
	media  string // "print", or "" for a screen
}

// views are all that a page is looked at in; few are enough for one that differs
// from others in its words only.
var (
	views = []view{
		{360, "light", ""},
		{360, "dark", ""},
		{768, "light", ""},
		{768, "dark", ""},
		{1440, "light", ""},
		{1440, "dark", ""},
		{718, "dark", "print"}, // A4 within its margins
	}
	few = []view{{360, "light", ""}, {1440, "dark", ""}}
)

// TestBrowser looks at each kind of page as its readers would: nothing is
// written to the console or loaded, nothing is wider than the screen, all text
// can be read.
func TestBrowser(t *testing.T) {
	ctx := browser(t)
	for name, in := range cases() {
		file := filepath.Join(t.TempDir(), name+".html")
		if err := os.WriteFile(file, written(t, in), 0o644); err != nil {
			t.Fatal(err)
		}
		looks := few
		if name == "one" || name == "two" || name == "openloop" {
			looks = views
		}
		for _, v := range looks {
			t.Run(fmt.Sprintf("%s/%d/%s%s", name, v.width, v.scheme, v.media), func(t *testing.T) {
				for _, fault := range look(t, ctx, file, v) {
					t.Error(fault)
				}
				photograph(t, ctx, fmt.Sprintf("%s-%d-%s%s.png", name, v.width, v.scheme, v.media))
			})
		}
		t.Run(name+"/pdf", func(t *testing.T) {
			pdf, err := chromedp.Run(ctx, chromedp.PrintToPDF(chromedp.PDFPaper(chromedp.PaperA4)))
			if err != nil || !strings.HasPrefix(string(pdf), "%PDF-") || len(pdf) < 10_000 {
				t.Errorf("print gives %d bytes, %v", len(pdf), err)
			}
			keep(t, name+".pdf", pdf)
		})
	}
}

// look opens a file and returns what is wrong with it, as inspect.js finds it,
// and what the browser had to say or to load.
func look(t *testing.T, ctx context.Context, file string, v view) (faults []string) {
	t.Helper()
	watched, stop := context.WithCancel(ctx)
	defer stop()
	noise := make(chan string, 100)
	err := chromedp.Listen(watched, func(event any) {
		if request, ok := event.(*network.EventRequestWillBeSent); ok && request.DocumentURL != request.Request.URL {
			noise <- "it loads " + request.Request.URL
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	console := chromedp.Console(watched)
	media := emulation.SetEmulatedMediaParams{Media: v.media, Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: v.scheme}}}
	if _, err := chromedp.Call(ctx, emulation.SetEmulatedMedia, media); err != nil {
		t.Fatal(err)
	}
	address := url.URL{Scheme: "file", Path: file}
	if err := chromedp.Do(ctx, chromedp.EmulateViewport(v.width, 900), chromedp.Navigate(address.String())); err != nil {
		t.Fatal(err)
	}
	height, err := chromedp.Run(ctx, chromedp.Evaluate[int64](unfold))
	if err != nil {
		t.Fatal(err)
	}
	if err := chromedp.Do(ctx, chromedp.EmulateViewport(v.width, height)); err != nil {
		t.Fatal(err)
	}
	faults, err = chromedp.Run(ctx, chromedp.Evaluate[[]string](inspect))
	if err != nil {
		t.Fatal(err)
	}
	return append(faults, heard(t, ctx, console, noise)...)
}

// heard returns what came on console and noise until a mark that is sent now.
func heard(t *testing.T, ctx context.Context, console func(func(chromedp.ConsoleMessage, error) bool), noise chan string) (all []string) {
	t.Helper()
	const mark = "the end of the page"
	if err := chromedp.Do(ctx, chromedp.Func(func(ctx context.Context, _ *chromedp.Target) error {
		_, err := chromedp.Run(ctx, chromedp.Evaluate[chromedp.Void](`console.log("`+mark+`")`))
		return err
	})); err != nil {
		t.Fatal(err)
	}
	for message, err := range console {
		if err != nil {
			t.Fatal(err)
		}
		if message.Text == mark {
			break
		}
		all = append(all, "console: "+message.String())
	}
	for len(noise) > 0 {
		all = append(all, <-noise)
	}
	return all
}

// photograph keeps a picture of the whole page where one is asked for.
func photograph(t *testing.T, ctx context.Context, name string) {
	t.Helper()
	if os.Getenv(screenshots) == "" {
		return
	}
	picture, err := chromedp.Run(ctx, chromedp.FullScreenshot(100))
	if err != nil {
		t.Fatal(err)
	}
	keep(t, name, picture)
}

func keep(t *testing.T, name string, data []byte) {
	t.Helper()
	if dir := os.Getenv(screenshots); dir != "" {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// TestBrowserFinds: the checks above find what they are for.
func TestBrowserFinds(t *testing.T) {
	ctx := browser(t)
	for want, body := range map[string]string{
		"wider than the screen": `<p style="width:2000px">a</p>`,
		"contrast":              `<p style="color:#999">too light</p>`,
		"console":               `<script>console.error("x")</script><p>a</p>`,
		"it loads":              `<img src="missing.png" alt=""><p>a</p>`,
		"small":                 `<svg viewBox="0 0 100 100" width="50" height="50"><text x="9" y="50" style="font-size:12px">a</text></svg>`,
		"outside":               `<svg viewBox="0 0 100 100" width="100" height="100"><text x="95" y="50" style="font-size:12px">outside</text></svg>`,
		"on top of":             `<svg viewBox="0 0 99 99" width="99" height="99"><text x="9" y="50">one</text><text x="12" y="52">two</text></svg>`,
		"contrast 1.0":          `<svg viewBox="0 0 99 99" width="99" height="99"><path d="M0,0H99V99H0Z" fill="#123"/><text x="9" y="50" fill="#123">a</text></svg>`,
		"no text":               ``,
	} {
		t.Run(want, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "bad.html")
			if err := os.WriteFile(file, []byte("<!doctype html><body style='background:#fff'>"+body), 0o644); err != nil {
				t.Fatal(err)
			}
			if faults := strings.Join(look(t, ctx, file, view{360, "light", ""}), "\n"); !strings.Contains(faults, want) {
				t.Errorf("found %q, want %q", faults, want)
			}
		})
	}
}
