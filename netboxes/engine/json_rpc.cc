// SPDX-License-Identifier: GPL-2.0-or-later
#include "json_rpc.h"

#include <optional>

namespace netboxit::json_rpc
{

namespace
{

using Json = nlohmann::json;

std::string Write(const Json& json)
{
    return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Json Error(const Json& id, Code code, const std::string& message)
{
    return {
        {"jsonrpc", "2.0"}, {"id", id}, {"error", {{"code", static_cast<int>(code)}, {"message", message}}}};
}

std::optional<Json> RespondToOne(const Json& request, const Methods& methods)
{
    if (!request.is_object())
    {
        return Error(nullptr, Code::InvalidRequest, "a request is an object");
    }
    const auto id = request.value("id", Json());
    if (!id.is_null() && !id.is_number() && !id.is_string())
    {
        return Error(nullptr, Code::InvalidRequest, "id is a number or a text");
    }
    const auto method = request.find("method");
    if (request.value("jsonrpc", Json()) != "2.0" || method == request.end() || !method->is_string())
    {
        return Error(id, Code::InvalidRequest, R"(a request has "jsonrpc": "2.0" and a method)");
    }
    const auto params = request.value("params", Json::object());
    try
    {
        if (!params.is_object())
        {
            throw Refusal{Code::InvalidParams, "params is an object of named parameters"};
        }
        const auto result = methods(*method, params);
        return request.contains("id")
                   ? std::optional(Json{{"jsonrpc", "2.0"}, {"id", id}, {"result", result}})
                   : std::nullopt;
    }
    catch (const Refusal& refusal)
    {
        return request.contains("id") ? std::optional(Error(id, refusal.code, refusal.message))
                                      : std::nullopt;
    }
}

} // namespace

std::string RespondError(Code code, const std::string& message)
{
    return Write(Error(nullptr, code, message));
}

std::string Respond(std::string_view text, const Methods& methods)
{
    const auto request = Json::parse(text, nullptr, false);
    if (request.is_discarded())
    {
        return RespondError(Code::ParseError, "this is not JSON: one object a line is expected");
    }
    if (!request.is_array())
    {
        const auto response = RespondToOne(request, methods);
        return response ? Write(*response) : "";
    }
    if (request.empty())
    {
        return RespondError(Code::InvalidRequest, "an empty batch");
    }
    auto responses = Json::array();
    for (const auto& one : request)
    {
        if (auto response = RespondToOne(one, methods))
        {
            responses.push_back(std::move(*response));
        }
    }
    return responses.empty() ? "" : Write(responses);
}

} // namespace netboxit::json_rpc
