// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "click_router.h"

#include <optional>
#include <string>
#include <string_view>

namespace netboxit::click
{

enum class ControlAccess
{
    ReadWrite,
    ReadOnly,
};

/// Reply codes of Click's ControlSocket element.
enum class ReplyCode : int
{
    Ok = 200,
    OkWithWarnings = 220,
    Syntax = 500,
    UnknownCommand = 501,
    NoElement = 510,
    NoHandler = 511,
    HandlerError = 520,
    DataTooBig = 521,
    Permission = 530,
};

/// What a client is told. Details, a line each, go in front of the message; data, where there is any, follows it.
struct ControlReply
{
    ReplyCode code{};
    std::string message;
    std::string details{};
    std::optional<std::string> data{};
};

/// The handlers of a router that a client may use, by the address that it writes: `element.handler`, where the
/// element is a name or a number from 1, or `handler` for a global one.
class HandlerAccess
{
  public:
    HandlerAccess(ClickRouter& router, ControlAccess access);

    /// Whether it could be read, or written.
    ControlReply Check(std::string_view address, bool write) const;
    ControlReply Read(std::string_view address, std::string_view parameter);
    ControlReply Write(std::string_view address, std::string_view text);

    /// The global handler `stop` was written.
    bool StopWanted() const
    {
        return m_stopWanted;
    }

  private:
    struct Handler
    {
        std::string element;
        std::string name;
        bool readable{};
        bool writable{};
    };

    /// What is wrong, or nothing and `found` is the handler.
    std::optional<ControlReply> Find(std::string_view address, bool write, Handler& found) const;
    std::optional<std::string> FindElement(const std::string& name) const;

    ClickRouter& m_router;
    ControlAccess m_access;
    bool m_stopWanted{false};
};

} // namespace netboxit::click
