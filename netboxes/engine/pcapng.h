// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "headers.h"

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
    bool m_bigEndian{false};
    std::vector<std::uint8_t> m_body;
    std::vector<Interface> m_interfaces;
};

/// Writes one Ethernet interface's frames with nanosecond times.
class PcapngWriter
{
  public:
    explicit PcapngWriter(const std::string& path);

    void Write(std::int64_t timeNs, Bytes data);
    /// Throws std::runtime_error when what was written did not reach the file.
    void Finish();

  private:
    void WriteBlock(std::uint32_t type, Bytes head, Bytes data);

    std::string m_path;
    std::ofstream m_file;
};

} // namespace netboxit
