// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <nlohmann/json.hpp>

#include <functional>
#include <string>
#include <string_view>

namespace netboxit::json_rpc
{

/// Error codes of JSON-RPC 2.0, section 5.1.
enum class Code
{
    ParseError = -32700,
    InvalidRequest = -32600,
    MethodNotFound = -32601,
    InvalidParams = -32602,
};

/// A method refuses: becomes the error of the response.
struct Refusal
{
    Code code;
    std::string message;
};

/// Answers a method called with `params` (an object; empty when absent); throws Refusal.
using Methods = std::function<nlohmann::json(const std::string& method, const nlohmann::json& params)>;

/// The response to one request, notification or batch, without a newline; empty when there is none to give.
/// Never throws because of `text`.
std::string Respond(std::string_view text, const Methods& methods);

/// The response that says what is wrong with a request which cannot be read.
std::string RespondError(Code code, const std::string& message);

} // namespace netboxit::json_rpc
