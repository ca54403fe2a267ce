// SPDX-License-Identifier: GPL-2.0-or-later
#include "http_reply_reader.h"

#include <algorithm>

namespace netboxit
{

bool HttpReplyReader::Take(const ns3::Packet& data)
{
    const auto ofHead = m_reply ? 0 : TakeHead(data);
    if (m_reply)
    {
        m_received += data.GetSize() - ofHead;
        if (m_received > m_reply->length)
        {
            m_failure = "more than the reply's length";
        }
    }
    return m_failure.empty();
}

std::uint32_t HttpReplyReader::TakeHead(const ns3::Packet& data)
{
    const auto before = m_head.size();
    const auto more = std::min<std::size_t>(data.GetSize(), http::LONGEST_HEAD - before);
    m_head.resize(before + more);
    data.CopyData(reinterpret_cast<std::uint8_t*>(m_head.data() + before), static_cast<std::uint32_t>(more));
    const auto length = http::HeadLength(m_head);
    if (!length)
    {
        m_failure = m_head.size() == http::LONGEST_HEAD ? "a header of more than 8 KiB" : "";
        return static_cast<std::uint32_t>(more);
    }
    m_reply = http::ReadReply(std::string_view(m_head).substr(0, *length));
    m_failure = m_reply ? "" : "no reply of HTTP/1.1 with a length";
    return static_cast<std::uint32_t>(*length - before);
}

} // namespace netboxit
