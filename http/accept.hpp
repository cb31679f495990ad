#pragma once

#include "http/message.hpp"

namespace cleat::http {

/// The two forms in which a log is answered.
enum class LogForm { stream, page };

/// Which form the request's `Accept` wants (RFC 9110 section 12.5.1): the one with the greater weight, then the one
/// that is named more exactly, else `otherwise`. So no `Accept` at all and `*/*` mean `otherwise`, `application/json`
/// and `application/json, */*` the page. Who wants neither gets the page: it ends, whatever reads it.
LogForm preferred_form(const HeaderFields& headers, LogForm otherwise = LogForm::stream);

} // namespace cleat::http
