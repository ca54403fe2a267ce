// SPDX-License-Identifier: GPL-2.0-or-later
#include "handler_access.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <sstream>
#include <stdexcept>

namespace netboxit::click
{

namespace
{

/// A global handler that is ours, not the library's.
struct OwnHandler
{
    std::string_view name;
    /// What it returns should be known, a line each. Null: nobody can write it.
    std::string (ClickRouter::*write)(const std::string& text);
    /// Null: nobody can read it.
    std::string (ClickRouter::*read)();
};

// The first replaces the configuration, as in Click's own driver.
constexpr std::array OWN_HANDLERS{OwnHandler{"hotconfig", &ClickRouter::Swap, nullptr},
                                  OwnHandler{"unplug", &ClickRouter::Unplug, nullptr},
                                  OwnHandler{"plug", &ClickRouter::Plug, nullptr},
                                  OwnHandler{"stages", &ClickRouter::WriteStages, &ClickRouter::ReadStages},
                                  OwnHandler{"counters", nullptr, &ClickRouter::Statistics}};

/// Null where it is the library's.
const OwnHandler* FindOwn(std::string_view address)
{
    const auto found = std::ranges::find(OWN_HANDLERS, address, &OwnHandler::name);
    return found == OWN_HANDLERS.end() ? nullptr : &*found;
}

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

Answer WriteAnswer(ClickRouter& router, const std::string& element, const std::string& handler, const std::string& text)
{
    const auto* const own = element.empty() ? FindOwn(handler) : nullptr;
    if (own == nullptr)
    {
        return router.WriteHandler(element, handler, text);
    }
    try
    {
        return {true, {}, (router.*own->write)(text)};
    }
    catch (const std::runtime_error& error)
    {
        return {false, {}, error.what()};
    }
}

Answer ReadAnswer(ClickRouter& router, const std::string& element, const std::string& handler, std::string_view parameter)
{
    const auto* const own = element.empty() ? FindOwn(handler) : nullptr;
    if (own != nullptr)
    {
        return {true, (router.*own->read)(), {}};
    }
    return router.ReadHandler(element, handler + (parameter.empty() ? "" : " " + std::string(parameter)));
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
    const auto answer = ReadAnswer(m_router, handler.element, handler.name, parameter);
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
    const auto name = "Write handler " + Quoted(address);
    const auto answer = WriteAnswer(m_router, handler.element, handler.name, std::string(text));
    m_stopWanted = m_stopWanted || (answer.done && handler.element.empty() && handler.name == "stop");
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

std::optional<ControlReply> HandlerAccess::Find(std::string_view address, bool write, Handler& found) const
{
    const auto dot = address.rfind('.');
    const bool global = dot == std::string_view::npos;
    const std::string element(global ? "" : address.substr(0, dot));
    const auto* const own = FindOwn(address);
    found = {"",
             std::string(global ? address : address.substr(dot + 1)),
             own != nullptr && own->read != nullptr,
             own != nullptr && own->write != nullptr};
    if (!element.empty())
    {
        const auto known = FindElement(element);
        if (!known)
        {
            return ControlReply{ReplyCode::NoElement, "No element named " + Quoted(element)};
        }
        found.element = *known;
    }
    if (own == nullptr && !FindFlags(m_router.ReadHandler(found.element, "handlers").text,
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

} // namespace netboxit::click
