// Package budgets holds the budgets that this project's own benchmark must stay
// within, as files for package verdict/gate: acceptance.yaml, counts.yaml and
// memory.yaml. Each file says at its top what its keys mean.
//
// It will not judge anything, and it knows no budget of another project: that is
// a file of its own. It holds constants, so there is no limit to state, and
// nothing to Run and nothing to Close.
package budgets
