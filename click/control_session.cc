// SPDX-License-Identifier: GPL-2.0-or-later
#include "control_session.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <sstream>

namespace netboxit::click
{

namespace
{

constexpr std::string_view BLANKS = " \t";

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

/// Of words after a command.
const ControlReply WRONG_NUMBER{ReplyCode::Syntax, "Wrong number of arguments"};

} // namespace

ControlSession::ControlSession(ClickRouter& router, ControlAccess access)
    : m_handlers(router, access), m_output("Click::ControlSocket/1.3\r\n")
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
        Reply({ReplyCode::Syntax, "Line longer than " + std::to_string(LONGEST_LINE) + " bytes"});
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
        return Reply({ReplyCode::Ok, "Goodbye!"});
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
        return Reply(address.empty() || !rest.empty() ? WRONG_NUMBER : m_handlers.Check(address, write));
    }
    if (verb == "READ" || verb == "GET" || verb == "WRITE" || verb == "SET")
    {
        return Reply(address.empty() ? WRONG_NUMBER
                     : write         ? m_handlers.Write(address, rest)
                                     : m_handlers.Read(address, rest));
    }
    Reply({ReplyCode::UnknownCommand, "Unknown command '" + verb + "'"});
}

void ControlSession::Help()
{
    Reply({ReplyCode::Ok,
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
          "QUIT                      close connection\n"});
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
        return Reply(WRONG_NUMBER);
    }
    if (pending.size > LARGEST_DATA)
    {
        // The data would be taken for commands, so the conversation cannot go on.
        m_closed = true;
        return Reply({ReplyCode::DataTooBig, "Data longer than " + std::to_string(LARGEST_DATA) + " bytes"});
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
            Reply({ReplyCode::DataTooBig, "Data longer than " + std::to_string(LARGEST_DATA) + " bytes"});
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
        return Reply(m_handlers.Read(pending.handler, pending.data));
    case Verb::Write:
        return Reply(m_handlers.Write(pending.handler, pending.data));
    case Verb::Binary:
        return Reply({ReplyCode::UnknownCommand, "LLRPC is not offered: the Click library of ns-3 has no way to it"});
    }
}

/// Details go in front of the last line: `ddd-text` … `ddd text`.
void ControlSession::Reply(const ControlReply& reply)
{
    const auto code = std::to_string(static_cast<int>(reply.code));
    std::istringstream lines(reply.details);
    for (std::string line; std::getline(lines, line);)
    {
        m_output += code + "-" + line + "\r\n";
    }
    m_output += code + " " + reply.message + "\r\n";
    if (reply.data)
    {
        m_output += "DATA " + std::to_string(reply.data->size()) + "\r\n" + *reply.data;
    }
}

} // namespace netboxit::click
