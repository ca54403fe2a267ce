// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "headers.h"

#include <array>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

namespace netboxit
{

/// Reads the Ethernet frames of a pcapng capture of either byte order in the order of the file; a cut-off
/// last block is its end. Throws std::runtime_error that names the file and what is wrong with it.
class PcapngReader
{
  public:
    struct Packet
    {
        std::int64_t timeNs; ///< since 1970
        Bytes data;          ///< valid until the next call
    };

    explicit PcapngReader(const std::string& path);

    std::optional<Packet> Next();

  private:
    struct Interface
    {
        std::uint64_t unitsPerSecond;
        std::int64_t offsetSeconds;
    };

    /// Reads the next block's body; its type, or nothing at the end of the file.
    std::optional<std::uint32_t> ReadBlock();
    void ReadInterface();
    Packet ReadEnhanced() const;
    std::uint32_t Number(std::size_t at, std::size_t bytes) const;
    [[noreturn]] void Refuse(const std::string& cause) const;

    std::string m_path;
    std::ifstream m_file;
    bool m_begun{false}; ///< its first section header has been read
    bool m_bigEndian{false};
    std::vector<std::uint8_t> m_body;
    std::vector<Interface> m_interfaces;
};

/// Which way a packet passed the interface at which it was captured; the values are those of epb_flags.
enum class PacketDirection : std::uint32_t
{
    Unsaid = 0,
    Inbound = 1,
    Outbound = 2,
};

/// What a capture of one Ethernet interface with nanosecond times begins with.
std::vector<std::uint8_t> PcapngOpening();

/// What stands before and behind a packet's bytes in a capture.
class PacketBlock
{
  public:
    /// Of a packet of `length` bytes, of which the first `captured` stand in between.
    PacketBlock(std::int64_t timeNs, std::size_t length, std::size_t captured, PacketDirection direction);

    Bytes Head() const
    {
        return {reinterpret_cast<const std::uint8_t*>(m_head.data()), sizeof m_head};
    }

    Bytes Tail() const
    {
        return Bytes(m_tail).first(m_tailLength);
    }

  private:
    std::array<std::uint32_t, 7> m_head;
    std::array<std::uint8_t, 3 + 16> m_tail{}; ///< padding, options, length
    std::size_t m_tailLength;
};

/// Writes one Ethernet interface's frames with nanosecond times.
class PcapngWriter
{
  public:
    /// Of each frame the first `snapshot` bytes are kept.
    explicit PcapngWriter(const std::string& path, std::size_t snapshot = SIZE_MAX);

    void Write(std::int64_t timeNs, Bytes data);
    /// Throws std::runtime_error when what was written did not reach the file, as Write() does when it sees that.
    void Finish();

  private:
    [[noreturn]] void Refuse() const;
    void Write(Bytes bytes);

    std::string m_path;
    std::size_t m_snapshot;
    std::ofstream m_file;
};

} // namespace netboxit
