// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "descriptor.h"
#include "frame.h"

#include <string>
#include <vector>

namespace netboxit
{

/// What became of one copy of one frame, as it stands in the file (docs/architecture.md, "Frame records").
struct Record
{
    std::uint64_t identity;
    std::int64_t inNs;
    std::int64_t outNs;
    std::int64_t latenessNs;
    std::uint32_t length;
    std::uint16_t stationIn;
    std::uint16_t stationOut;
    std::uint16_t trafficClass;
    std::uint8_t fate;
    std::uint8_t zeros[5];
};

static_assert(sizeof(Record) == 48);

/// Keeps records in memory and writes them in small pieces when the loop has nothing better to do.
class RecordFile
{
  public:
    /// Without a path, records are not kept. `wait`: write at once when the memory is full (virtual time),
    /// instead of dropping.
    RecordFile(const std::string& path, bool wait);
    ~RecordFile();

    RecordFile(const RecordFile&) = delete;
    RecordFile& operator=(const RecordFile&) = delete;

    void Add(const Record& record);

    bool IsKept() const
    {
        return !m_ring.empty();
    }

    /// How many are not yet written.
    std::size_t Left() const
    {
        return m_count;
    }

    bool HasWork() const
    {
        return m_count > 0;
    }

    /// Enough for a piece as large as is written at once.
    bool HasPiece() const
    {
        return m_count >= PIECE;
    }

    /// More than half of the memory is taken: writing can wait no longer for an idle moment.
    bool IsPressing() const
    {
        return m_count > m_ring.size() / 2;
    }

    /// Writes a few kilobytes at the most.
    void WritePiece();
    void WriteAll();
    /// Writes all, and keeps no more.
    void End()
    {
        WriteAll();
        m_ring.clear();
    }

    std::uint64_t Written() const
    {
        return m_written;
    }

    /// Records lost because the memory was full or the file refused them.
    std::uint64_t Dropped() const
    {
        return m_dropped;
    }

  private:
    static constexpr std::size_t PIECE = 340; ///< 16 kB: some 10 us of copying into the page cache

    bool m_wait;
    Descriptor m_file;
    std::vector<Record> m_ring;
    std::size_t m_first{0};
    std::size_t m_count{0};
    std::uint64_t m_written{0};
    std::uint64_t m_dropped{0};
};

} // namespace netboxit
