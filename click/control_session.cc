// SPDX-License-Identifier: GPL-2.0-or-later
#include "control_session.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <sstream>

namespace netboxit
{

namespace
{

// Reply codes of Click's ControlSocket element.
constexpr int OK = 200;
constexpr int OK_WITH_WARNINGS = 220;
constexpr int SYNTAX = 500;
constexpr int UNKNOWN_COMMAND = 501;
constexpr int NO_ELEMENT = 510;
constexpr int NO_HANDLER = 511;
constexpr int HANDLER_ERROR = 520;
constexpr int DATA_TOO_BIG = 521;
constexpr int PERMISSION = 530;

constexpr std::string_view BLANKS = " \t";

/// The global handler that replaces the configuration, as in Click's own driver. It is ours, not the library's.
constexpr std::string_view HOT_SWAP = "hotconfig";

/// Takes the first word off.
std::string_view Word(std::string_view& text)
{
    text.remove_prefix(std::min(text.find_first_not_of(BLANKS), text.size()));
    const auto word = text.substr(0, text.find_first_of(BLANKS));
    text.remove_prefix(word.size());
    text.remove_prefix(std::min(text.find_first_not_of(BLANKS), text.size()));
    return word;
}

std::string WithoutTrailingBlanks(std::string_view text)
{
    return std::string(text.substr(0, text.find_last_not_of(BLANKS) + 1));
}

std::optional<std::size_t> Count(std::string_view text)
{
    std::size_t value{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    return error == std::errc{} && end == text.data() + text.size() ? std::optional(value) : std::nullopt;
}

std::string Quoted(std::string_view text)
{
    return "'" + std::string(text) + "'";
}

} // namespace

ControlSession::ControlSession(ClickRouter& router, ControlAccess access)
    : m_router(router), m_access(access), m_output("Click::ControlSocket/1.3\r\n")
{
}

void ControlSession::Take(std::string_view bytes)
{
    m_input += bytes;
    while (!m_closed && Step())
    {
    }
    if (!m_pending && m_input.size() > LONGEST_LINE)
    {
        Reply(SYNTAX, "Line longer than " + std::to_string(LONGEST_LINE) + " bytes");
        m_closed = true;
    }
}

/// True when something was done and more may follow.
bool ControlSession::Step()
{
    if (m_pending)
    {
        return StepData();
    }
    const auto line = NextLine();
    if (line)
    {
        Command(*line);
    }
    return line.has_value();
}

/// A line ends with CR, LF or CR LF. A CR at the end of what has come may still get its LF: that LF then
/// makes a blank line, which is ignored.
std::optional<std::string> ControlSession::NextLine()
{
    const auto end = m_input.find_first_of("\r\n");
    if (end == std::string::npos)
    {
        return std::nullopt;
    }
    std::string line = m_input.substr(0, end);
    const bool pair = m_input[end] == '\r' && end + 1 < m_input.size() && m_input[end + 1] == '\n';
    m_input.erase(0, end + (pair ? 2 : 1));
    return line;
}

void ControlSession::Command(std::string_view line)
{
    std::string_view rest = line;
    std::string verb(Word(rest));
    std::transform(
        verb.begin(), verb.end(), verb.begin(), [](unsigned char letter) { return std::toupper(letter); });
    if (verb.empty())
    {
        return;
    }
    if (verb == "HELP")
    {
        return Help();
    }
    if (verb == "QUIT" || verb == "CLOSE")
    {
        m_closed = true;
        return Reply(OK, "Goodbye!");
    }
    const bool write = verb.starts_with("WRITE") || verb.starts_with("SET") || verb == "CHECKWRITE";
    if (verb == "LLRPC")
    {
        return Binary(rest);
    }
    const bool data = verb == "READDATA" || verb == "WRITEDATA" || verb == "SETDATA";
    const bool until = verb == "READUNTIL" || verb == "WRITEUNTIL";
    if (data || until)
    {
        return Expect(write ? Verb::Write : Verb::Read, data, rest);
    }
    const auto address = Word(rest);
    if (verb == "CHECKREAD" || verb == "CHECKWRITE")
    {
        return address.empty() || !rest.empty() ? Reply(SYNTAX, "Wrong number of arguments")
                                                : Check(address, write);
    }
    if (verb == "READ" || verb == "GET" || verb == "WRITE" || verb == "SET")
    {
        return address.empty() ? Reply(SYNTAX, "Wrong number of arguments")
               : write         ? WriteHandler(address, rest)
                               : ReadHandler(address, rest);
    }
    Reply(UNKNOWN_COMMAND, "Unknown command " + Quoted(verb));
}

void ControlSession::Help()
{
    Reply(OK,
          "End of help",
          "Commands supported:\n"
          "READ handler [arg...]     call read handler, return result\n"
          "READDATA handler len      call read handler with len data bytes as argument\n"
          "READUNTIL handler term    call read handler with data up to a line 'term' as argument\n"
          "WRITE handler [arg...]    call write handler\n"
          "WRITEDATA handler len     call write handler with len data bytes\n"
          "WRITEUNTIL handler term   call write handler with data up to a line 'term'\n"
          "CHECKREAD handler         check if read handler exists\n"
          "CHECKWRITE handler        check if write handler exists\n"
          "LLRPC element#command [n] not offered\n"
          "HELP                      print this text\n"
          "QUIT                      close connection\n");
}

/// `LLRPC element#command [size]`: the bytes that follow are taken, so that they are not read as commands.
void ControlSession::Binary(std::string_view arguments)
{
    auto rest = arguments;
    Word(rest);
    if (rest.empty())
    {
        return Finish({Verb::Binary, {}, std::nullopt, {}, {}});
    }
    Expect(Verb::Binary, true, arguments);
}

void ControlSession::Expect(Verb verb, bool counted, std::string_view arguments)
{
    Pending pending{verb, std::string(Word(arguments)), std::nullopt, {}, {}};
    pending.terminator = WithoutTrailingBlanks(arguments);
    pending.size = counted ? Count(pending.terminator) : std::nullopt;
    if (pending.handler.empty() || (counted && !pending.size))
    {
        return Reply(SYNTAX, "Wrong number of arguments");
    }
    if (pending.size > LARGEST_DATA)
    {
        // The data would be taken for commands, so the conversation cannot go on.
        m_closed = true;
        return Reply(DATA_TOO_BIG, "Data longer than " + std::to_string(LARGEST_DATA) + " bytes");
    }
    m_pending = std::move(pending);
}

bool ControlSession::StepData()
{
    if (m_pending->size)
    {
        const auto part = std::min(*m_pending->size - m_pending->data.size(), m_input.size());
        m_pending->data.append(m_input, 0, part);
        m_input.erase(0, part);
        if (m_pending->data.size() < *m_pending->size)
        {
            return false;
        }
    }
    else
    {
        const auto line = NextLine();
        if (m_pending->data.size() + (line ? line->size() : m_input.size()) > LARGEST_DATA)
        {
            Reply(DATA_TOO_BIG, "Data longer than " + std::to_string(LARGEST_DATA) + " bytes");
            m_closed = true;
            return false;
        }
        if (!line)
        {
            return false;
        }
        if (WithoutTrailingBlanks(*line) != m_pending->terminator)
        {
            m_pending->data += *line + "\n";
            return true;
        }
        // The last line's end belongs to the terminator.
        m_pending->data.resize(m_pending->data.empty() ? 0 : m_pending->data.size() - 1);
    }
    const auto complete = std::move(*m_pending);
    m_pending.reset();
    Finish(complete);
    return true;
}

void ControlSession::Finish(const Pending& pending)
{
    switch (pending.verb)
    {
    case Verb::Read:
        return ReadHandler(pending.handler, pending.data);
    case Verb::Write:
        return WriteHandler(pending.handler, pending.data);
    case Verb::Binary:
        return Reply(UNKNOWN_COMMAND, "LLRPC is not offered: the Click library of ns-3 has no way to it");
    }
}

/// The router's name for an element given by name or by number (from 1).
std::optional<std::string> ControlSession::FindElement(const std::string& name) const
{
    const auto& all = m_router.Running().Elements();
    if (const auto number = Count(name); number && *number >= 1 && *number <= all.size())
    {
        return all[*number - 1];
    }
    return m_router.Running().FindElement(name);
}

/// Replies itself when there is no such handler.
std::optional<ControlSession::Handler> ControlSession::Find(std::string_view address)
{
    const auto dot = address.rfind('.');
    const std::string name(dot == std::string_view::npos ? "" : address.substr(0, dot));
    Handler handler{
        "", std::string(dot == std::string_view::npos ? address : address.substr(dot + 1)), false, false};
    if (address == HOT_SWAP)
    {
        handler.writable = true;
        return handler;
    }
    if (!name.empty())
    {
        const auto element = FindElement(name);
        if (!element)
        {
            Reply(NO_ELEMENT, "No element named " + Quoted(name));
            return std::nullopt;
        }
        handler.element = *element;
    }
    // Lines of "name TAB flags", where r and w among the flags permit reading and writing.
    std::istringstream known(m_router.ReadHandler(handler.element, "handlers").text);
    for (std::string line; std::getline(known, line);)
    {
        if (const auto tab = line.find('\t'); line.substr(0, tab) == handler.name && tab != std::string::npos)
        {
            handler.readable = line.find('r', tab) != std::string::npos;
            handler.writable = line.find('w', tab) != std::string::npos;
            return handler;
        }
    }
    Reply(NO_HANDLER, "No handler named " + Quoted(address));
    return std::nullopt;
}

bool ControlSession::Permitted(const Handler& handler, std::string_view address, bool write)
{
    if (write && m_access == ControlAccess::ReadOnly)
    {
        Reply(PERMISSION, "Permission denied for " + Quoted(address));
        return false;
    }
    if (write ? !handler.writable : !handler.readable)
    {
        Reply(PERMISSION, "Handler " + Quoted(address) + (write ? " read-only" : " write-only"));
        return false;
    }
    return true;
}

void ControlSession::Check(std::string_view address, bool write)
{
    if (const auto handler = Find(address); handler && Permitted(*handler, address, write))
    {
        Reply(OK, (write ? "Write handler " : "Read handler ") + Quoted(address) + " OK");
    }
}

void ControlSession::ReadHandler(std::string_view address, std::string_view parameter)
{
    const auto handler = Find(address);
    if (!handler || !Permitted(*handler, address, false))
    {
        return;
    }
    const auto answer = m_router.ReadHandler(
        handler->element, handler->name + (parameter.empty() ? "" : " " + std::string(parameter)));
    if (!answer.done)
    {
        return Reply(HANDLER_ERROR, "Read handler " + Quoted(address) + " error", answer.messages);
    }
    Reply(OK, "Read handler " + Quoted(address) + " OK");
    m_output += "DATA " + std::to_string(answer.text.size()) + "\r\n" + answer.text;
}

void ControlSession::WriteHandler(std::string_view address, std::string_view text)
{
    const auto handler = Find(address);
    if (!handler || !Permitted(*handler, address, true))
    {
        return;
    }
    if (address == HOT_SWAP)
    {
        return Swap(text);
    }
    const auto answer = m_router.WriteHandler(handler->element, handler->name, std::string(text));
    m_stopWanted = m_stopWanted || (answer.done && handler->element.empty() && handler->name == "stop");
    const auto name = "Write handler " + Quoted(address);
    if (!answer.done)
    {
        return Reply(HANDLER_ERROR, name + " error", answer.messages);
    }
    if (!answer.messages.empty())
    {
        return Reply(OK_WITH_WARNINGS, name + " OK with messages", answer.messages);
    }
    Reply(OK, name + " OK");
}

void ControlSession::Swap(std::string_view text)
{
    const auto name = "Write handler " + Quoted(HOT_SWAP);
    try
    {
        const auto messages = m_router.Swap(std::string(text));
        messages.empty() ? Reply(OK, name + " OK") : Reply(OK_WITH_WARNINGS, name + " OK with messages", messages);
    }
    catch (const std::runtime_error& error)
    {
        Reply(HANDLER_ERROR, name + " error", error.what());
    }
}

/// Details, a line each, go in front of the last line: `ddd-text` … `ddd text`.
void ControlSession::Reply(int code, std::string_view message, std::string_view details)
{
    std::istringstream lines{std::string(details)};
    for (std::string line; std::getline(lines, line);)
    {
        m_output += std::to_string(code) + "-" + line + "\r\n";
    }
    m_output += std::to_string(code) + " " + std::string(message) + "\r\n";
}

} // namespace netboxit
