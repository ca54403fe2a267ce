// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "handler_access.h"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace netboxit::click
{

/// One client's conversation in the protocol Click::ControlSocket/1.3: bytes in, bytes out, no sockets.
class ControlSession
{
  public:
    static constexpr std::size_t LONGEST_LINE = 64 << 10;
    static constexpr std::size_t LARGEST_DATA = 1 << 20;

    ControlSession(ClickRouter& router, ControlAccess access);

    /// Takes what the client sent and answers every command that is complete.
    void Take(std::string_view bytes);

    /// What is still to be sent; the caller removes what it sent.
    std::string& Output()
    {
        return m_output;
    }

    bool Closed() const
    {
        return m_closed;
    }
    bool StopWanted() const
    {
        return m_handlers.StopWanted();
    }

  private:
    enum class Verb
    {
        Read,
        Write,
        Binary,
    };

    /// A command that waits for its data: WRITEDATA, READDATA and LLRPC for a number of bytes, WRITEUNTIL and
    /// READUNTIL for a line.
    struct Pending
    {
        Verb verb{};
        std::string handler;
        std::optional<std::size_t> size;
        std::string terminator;
        std::string data;
    };

    bool Step();
    bool StepData();
    std::optional<std::string> NextLine();
    void Command(std::string_view line);
    void Expect(Verb verb, bool counted, std::string_view arguments);
    void Binary(std::string_view arguments);
    void Finish(const Pending& pending);
    void Help();

    void Reply(const ControlReply& reply);

    HandlerAccess m_handlers;
    std::string m_input;
    std::string m_output;
    std::optional<Pending> m_pending;
    bool m_closed{false};
};

} // namespace netboxit::click
