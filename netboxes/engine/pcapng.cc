// SPDX-License-Identifier: GPL-2.0-or-later
#include "pcapng.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <stdexcept>

namespace netboxit
{

namespace
{

// draft-ietf-opsawg-pcapng, section 4.
constexpr std::uint32_t SECTION = 0x0a0d0d0a;
constexpr std::uint32_t INTERFACE = 1;
constexpr std::uint32_t SIMPLE = 3;
constexpr std::uint32_t ENHANCED = 6;
constexpr std::uint32_t BYTE_ORDER_MAGIC = 0x1a2b3c4d;
constexpr std::uint32_t LINKTYPE_ETHERNET = 1;
constexpr std::uint32_t OPTION_END = 0;
constexpr std::uint32_t OPTION_FLAGS = 2;
constexpr std::uint32_t OPTION_RESOLUTION = 9;
constexpr std::uint32_t OPTION_OFFSET = 14;
constexpr std::size_t LONGEST_BLOCK = 16 << 20;

static_assert(std::endian::native == std::endian::little, "blocks are written as they lie in memory");

template <typename T>
Bytes BytesOf(const T& words)
{
    return {reinterpret_cast<const std::uint8_t*>(words.data()), words.size() * sizeof(words[0])};
}

} // namespace

PcapngReader::PcapngReader(const std::string& path) : m_path(path), m_file(path, std::ios::binary)
{
    if (!m_file)
    {
        throw std::runtime_error("cannot read " + path + ": " + std::strerror(errno));
    }
}

std::optional<PcapngReader::Packet> PcapngReader::Next()
{
    while (const auto type = ReadBlock())
    {
        switch (*type)
        {
        case SECTION:
            m_interfaces.clear();
            break;
        case INTERFACE:
            ReadInterface();
            break;
        case SIMPLE:
            Refuse("its packets have no times (simple packet blocks)");
        case ENHANCED:
            return ReadEnhanced();
        default:
            break;
        }
    }
    return std::nullopt;
}

std::optional<std::uint32_t> PcapngReader::ReadBlock()
{
    m_body.resize(12);
    if (!m_file.read(reinterpret_cast<char*>(m_body.data()), 8))
    {
        return std::nullopt;
    }
    std::size_t read = 8;
    if (Number(0, 4) == SECTION)
    {
        if (!m_file.read(reinterpret_cast<char*>(m_body.data() + 8), 4))
        {
            return std::nullopt;
        }
        read = 12;
        m_bigEndian = false;
        if (Number(8, 4) != BYTE_ORDER_MAGIC)
        {
            m_bigEndian = true;
        }
        if (Number(8, 4) != BYTE_ORDER_MAGIC)
        {
            Refuse("it is not a pcapng capture");
        }
    }
    else if (!m_begun)
    {
        Refuse("it is not a pcapng capture");
    }
    m_begun = true;
    const auto type = Number(0, 4);
    const std::size_t length = Number(4, 4);
    if (length < 12 || length % 4 != 0 || length > LONGEST_BLOCK)
    {
        Refuse("it is damaged: a block of " + std::to_string(length) + " bytes");
    }
    m_body.resize(std::max(length, read));
    if (!m_file.read(reinterpret_cast<char*>(m_body.data() + read),
                     static_cast<std::streamsize>(length - read)))
    {
        return std::nullopt;
    }
    if (Number(length - 4, 4) != length)
    {
        Refuse("it is damaged: a block of " + std::to_string(length) + " bytes ends as another one");
    }
    m_body.resize(length - 4);
    return type;
}

void PcapngReader::ReadInterface()
{
    if (m_body.size() < 16 || Number(8, 2) != LINKTYPE_ETHERNET)
    {
        Refuse("it holds an interface that is not Ethernet");
    }
    Interface interface {
        1'000'000, 0
    };
    for (std::size_t at = 16; at + 4 <= m_body.size();)
    {
        const auto code = Number(at, 2);
        const auto size = Number(at + 2, 2);
        if (code == OPTION_END || at + 4 + size > m_body.size())
        {
            break;
        }
        if (code == OPTION_RESOLUTION && size == 1)
        {
            const unsigned exponent = m_body[at + 4] & 0x7fu;
            const bool binary = (m_body[at + 4] & 0x80) != 0;
            if (exponent > (binary ? 63 : 19))
            {
                Refuse("its resolution of time is absurd");
            }
            interface.unitsPerSecond =
                binary ? std::uint64_t{1} << exponent
                       : static_cast<std::uint64_t>(std::llround(std::pow(10.0L, exponent)));
        }
        else if (code == OPTION_OFFSET && size == 8)
        {
            const std::uint64_t first = Number(at + 4, 4);
            const std::uint64_t second = Number(at + 8, 4);
            interface.offsetSeconds =
                static_cast<std::int64_t>(m_bigEndian ? first << 32 | second : second << 32 | first);
        }
        at += 4 + (size + 3) / 4 * 4;
    }
    m_interfaces.push_back(interface);
}

PcapngReader::Packet PcapngReader::ReadEnhanced() const
{
    constexpr std::size_t HEAD = 28;
    if (m_body.size() < HEAD || Number(8, 4) >= m_interfaces.size() || Number(20, 4) > m_body.size() - HEAD)
    {
        Refuse("it is damaged: a packet that does not fit its block");
    }
    const auto& interface = m_interfaces[Number(8, 4)];
    const auto units = static_cast<unsigned __int128>(std::uint64_t{Number(12, 4)} << 32 | Number(16, 4));
    const auto sinceOffset = static_cast<std::int64_t>(units * 1'000'000'000 / interface.unitsPerSecond);
    return {interface.offsetSeconds * 1'000'000'000 + sinceOffset,
            Bytes(m_body).subspan(HEAD, Number(20, 4))};
}

std::uint32_t PcapngReader::Number(std::size_t at, std::size_t bytes) const
{
    std::uint32_t number = 0;
    std::memcpy(&number, m_body.data() + at, bytes);
    return m_bigEndian ? __builtin_bswap32(number) >> (32 - 8 * bytes) : number;
}

void PcapngReader::Refuse(const std::string& cause) const
{
    throw std::runtime_error("cannot use " + m_path + ": " + cause);
}

std::vector<std::uint8_t> PcapngOpening()
{
    constexpr std::uint32_t SECTION_BYTES = 28;
    constexpr std::uint32_t INTERFACE_BYTES = 32;
    const std::array<std::uint32_t, (SECTION_BYTES + INTERFACE_BYTES) / 4> words{
        SECTION,
        SECTION_BYTES,
        BYTE_ORDER_MAGIC,
        1, // version 1.0
        UINT32_MAX,
        UINT32_MAX, // length not said
        SECTION_BYTES,
        INTERFACE,
        INTERFACE_BYTES,
        LINKTYPE_ETHERNET,
        0,
        1 << 16 | OPTION_RESOLUTION,
        9,
        OPTION_END,
        INTERFACE_BYTES};
    const auto bytes = BytesOf(words);
    return {bytes.begin(), bytes.end()};
}

PacketBlock::PacketBlock(std::int64_t timeNs, std::size_t length, std::size_t captured, PacketDirection direction)
{
    const auto time = static_cast<std::uint64_t>(timeNs);
    const std::size_t padding = -captured % 4;
    const std::array<std::uint32_t, 3> options{
        4 << 16 | OPTION_FLAGS, static_cast<std::uint32_t>(direction), OPTION_END};
    const std::size_t optionBytes = direction == PacketDirection::Unsaid ? 0 : sizeof options;
    m_tailLength = padding + optionBytes + 4;
    const auto whole = static_cast<std::uint32_t>(sizeof m_head + captured + m_tailLength);
    m_head = {ENHANCED,
              whole,
              0,
              static_cast<std::uint32_t>(time >> 32),
              static_cast<std::uint32_t>(time),
              static_cast<std::uint32_t>(captured),
              static_cast<std::uint32_t>(length)};
    std::memcpy(m_tail.data() + padding, options.data(), optionBytes);
    std::memcpy(m_tail.data() + padding + optionBytes, &whole, sizeof whole);
}

PcapngWriter::PcapngWriter(const std::string& path, std::size_t snapshot)
    : m_path(path), m_snapshot(snapshot), m_file(path, std::ios::binary | std::ios::trunc)
{
    if (!m_file)
    {
        throw std::runtime_error("cannot write " + path + ": " + std::strerror(errno));
    }
    Write(PcapngOpening());
}

void PcapngWriter::Write(std::int64_t timeNs, Bytes data)
{
    const auto kept = data.first(std::min(data.size(), m_snapshot));
    const PacketBlock block(timeNs, data.size(), kept.size(), PacketDirection::Unsaid);
    Write(block.Head());
    Write(kept);
    Write(block.Tail());
}

void PcapngWriter::Write(Bytes bytes)
{
    if (!m_file.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size())))
    {
        Refuse();
    }
}

void PcapngWriter::Finish()
{
    if (!m_file.flush())
    {
        Refuse();
    }
}

void PcapngWriter::Refuse() const
{
    throw std::runtime_error("cannot write all of " + m_path + ": " + std::strerror(errno));
}

} // namespace netboxit
