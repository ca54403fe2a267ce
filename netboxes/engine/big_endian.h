// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "headers.h"

#include <vector>

namespace netboxit
{

/// Writes numbers of protocols one after another.
class BigEndianWriter
{
  public:
    void Put(std::uint64_t value, unsigned bytes)
    {
        for (; bytes-- > 0;)
        {
            m_bytes.push_back(static_cast<std::uint8_t>(value >> (8 * bytes)));
        }
    }

    void Put(Bytes bytes)
    {
        m_bytes.insert(m_bytes.end(), bytes.begin(), bytes.end());
    }

    /// Changes two bytes that were written before.
    void Set16(std::size_t at, std::uint16_t value)
    {
        m_bytes[at] = static_cast<std::uint8_t>(value >> 8);
        m_bytes[at + 1] = static_cast<std::uint8_t>(value);
    }

    const std::vector<std::uint8_t>& Written() const
    {
        return m_bytes;
    }

  private:
    std::vector<std::uint8_t> m_bytes;
};

/// Reads them. Beyond the end there are zeros, and the reader is not Good() any more.
class BigEndianReader
{
  public:
    explicit BigEndianReader(Bytes bytes) : m_bytes(bytes)
    {
    }

    std::uint32_t Get(unsigned bytes)
    {
        std::uint32_t value = 0;
        for (const auto byte : Take(bytes))
        {
            value = value << 8 | byte;
        }
        return value;
    }

    std::uint64_t Get64()
    {
        const auto high = Get(4);
        return std::uint64_t{high} << 32 | Get(4);
    }

    /// The next bytes; none when there are fewer.
    Bytes Take(std::size_t bytes)
    {
        if (bytes > m_bytes.size())
        {
            m_good = false;
            m_bytes = {};
            return {};
        }
        const auto taken = m_bytes.first(bytes);
        m_bytes = m_bytes.subspan(bytes);
        return taken;
    }

    std::size_t Left() const
    {
        return m_bytes.size();
    }

    bool Good() const
    {
        return m_good;
    }

  private:
    Bytes m_bytes;
    bool m_good{true};
};

} // namespace netboxit
