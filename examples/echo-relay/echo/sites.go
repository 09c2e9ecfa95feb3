package echo

import "github.com/msgpath/msgpath/counters"

// The places at which a note is worked on. The names are what budgets, tests
// and reports speak of.
var (
	sitePublish   = counters.NewSite("echo.publish")    // sign and encode
	siteValidator = counters.NewSite("echo.validator")  // decode and check the signature
	siteHandler   = counters.NewSite("echo.handler")    // whatever the application's side does again
	siteReply     = counters.NewSite("echo.reply")      // make an echo
	siteMessageID = counters.NewSite("echo.message_id") // the id by which gossipsub knows duplicates
)
