// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "http_message.h"

#include "ns3/packet.h"

namespace netboxit
{

/// A reply of HTTP/1.1 as it comes: its head, and its content, which is counted and thrown away.
class HttpReplyReader
{
  public:
    /// False: what came is no such reply, and Failure() says why; it takes no more then.
    bool Take(const ns3::Packet& data);

    /// Once its head is there.
    const std::optional<http::Reply>& Head() const
    {
        return m_reply;
    }

    bool IsWhole() const
    {
        return m_reply && m_received == m_reply->length;
    }

    /// Bytes of its content.
    std::uint64_t Received() const
    {
        return m_received;
    }

    const std::string& Failure() const
    {
        return m_failure;
    }

  private:
    /// Takes what belongs to the head, and returns its length.
    std::uint32_t TakeHead(const ns3::Packet& data);

    std::string m_head;
    std::optional<http::Reply> m_reply;
    std::uint64_t m_received{0};
    std::string m_failure;
};

} // namespace netboxit
