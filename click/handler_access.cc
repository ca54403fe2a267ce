// SPDX-License-Identifier: GPL-2.0-or-later
#include "handler_access.h"

#include <charconv>
#include <sstream>
#include <stdexcept>

namespace netboxit
{

namespace
{

/// The global handler that replaces the configuration, as in Click's own driver. It is ours, not the library's.
constexpr std::string_view HOT_SWAP = "hotconfig";

std::string Quoted(std::string_view text)
{
    return "'" + std::string(text) + "'";
}

/// Whether there is a handler of that name; `known` has lines of "name TAB flags", where r and w among the flags permit
/// reading and writing.
bool FindFlags(const std::string& known, const std::string& name, bool& readable, bool& writable)
{
    std::istringstream lines(known);
    for (std::string line; std::getline(lines, line);)
    {
        if (const auto tab = line.find('\t'); tab != std::string::npos && line.substr(0, tab) == name)
        {
            readable = line.find('r', tab) != std::string::npos;
            writable = line.find('w', tab) != std::string::npos;
            return true;
        }
    }
    return false;
}

} // namespace

HandlerAccess::HandlerAccess(ClickRouter& router, ControlAccess access)
    : m_router(router), m_access(access)
{
}

ControlReply HandlerAccess::Check(std::string_view address, bool write) const
{
    Handler handler;
    if (const auto wrong = Find(address, write, handler))
    {
        return *wrong;
    }
    return {ReplyCode::Ok, (write ? "Write handler " : "Read handler ") + Quoted(address) + " OK"};
}

ControlReply HandlerAccess::Read(std::string_view address, std::string_view parameter)
{
    Handler handler;
    if (const auto wrong = Find(address, false, handler))
    {
        return *wrong;
    }
    const auto call = handler.name + (parameter.empty() ? "" : " " + std::string(parameter));
    const auto answer = m_router.ReadHandler(handler.element, call);
    const auto name = "Read handler " + Quoted(address);
    if (!answer.done)
    {
        return {ReplyCode::HandlerError, name + " error", answer.messages};
    }
    return {ReplyCode::Ok, name + " OK", {}, answer.text};
}

ControlReply HandlerAccess::Write(std::string_view address, std::string_view text)
{
    Handler handler;
    if (const auto wrong = Find(address, true, handler))
    {
        return *wrong;
    }
    if (address == HOT_SWAP)
    {
        return Swap(text);
    }
    const auto answer = m_router.WriteHandler(handler.element, handler.name, std::string(text));
    m_stopWanted = m_stopWanted || (answer.done && handler.element.empty() && handler.name == "stop");
    const auto name = "Write handler " + Quoted(address);
    if (!answer.done)
    {
        return {ReplyCode::HandlerError, name + " error", answer.messages};
    }
    if (!answer.messages.empty())
    {
        return {ReplyCode::OkWithWarnings, name + " OK with messages", answer.messages};
    }
    return {ReplyCode::Ok, name + " OK"};
}

ControlReply HandlerAccess::Swap(std::string_view text)
{
    const auto name = "Write handler " + Quoted(HOT_SWAP);
    try
    {
        const auto messages = m_router.Swap(std::string(text));
        return messages.empty() ? ControlReply{ReplyCode::Ok, name + " OK"}
                                : ControlReply{ReplyCode::OkWithWarnings, name + " OK with messages", messages};
    }
    catch (const std::runtime_error& error)
    {
        return {ReplyCode::HandlerError, name + " error", error.what()};
    }
}

std::optional<ControlReply> HandlerAccess::Find(std::string_view address, bool write, Handler& found) const
{
    const auto dot = address.rfind('.');
    const bool global = dot == std::string_view::npos;
    const std::string element(global ? "" : address.substr(0, dot));
    found = {"", std::string(global ? address : address.substr(dot + 1)), false, address == HOT_SWAP};
    if (!element.empty())
    {
        const auto known = FindElement(element);
        if (!known)
        {
            return ControlReply{ReplyCode::NoElement, "No element named " + Quoted(element)};
        }
        found.element = *known;
    }
    if (address != HOT_SWAP && !FindFlags(m_router.ReadHandler(found.element, "handlers").text,
                                          found.name,
                                          found.readable,
                                          found.writable))
    {
        return ControlReply{ReplyCode::NoHandler, "No handler named " + Quoted(address)};
    }
    if (write && m_access == ControlAccess::ReadOnly)
    {
        return ControlReply{ReplyCode::Permission, "Permission denied for " + Quoted(address)};
    }
    if (write ? !found.writable : !found.readable)
    {
        return ControlReply{ReplyCode::Permission,
                            "Handler " + Quoted(address) + (write ? " read-only" : " write-only")};
    }
    return std::nullopt;
}

/// The router's name for an element given by name or by number (from 1).
std::optional<std::string> HandlerAccess::FindElement(const std::string& name) const
{
    const auto& all = m_router.Running().Elements();
    std::size_t number{};
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
    if (error == std::errc{} && end == name.data() + name.size() && number >= 1 && number <= all.size())
    {
        return all[number - 1];
    }
    return m_router.Running().FindElement(name);
}

} // namespace netboxit
