// SPDX-License-Identifier: GPL-2.0-or-later
#include "records.h"

#include <fcntl.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

namespace netboxit
{

namespace
{

static_assert(std::endian::native == std::endian::little, "records are written as they lie in memory");

constexpr std::size_t HEADER = 16;
constexpr std::size_t CAPACITY = 1 << 17; ///< 6 MB: more than a second of the highest rate measured

} // namespace

RecordFile::RecordFile(const std::string& path, bool wait) : m_wait(wait)
{
    if (path.empty())
    {
        return;
    }
    m_file = Descriptor(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644),
                        "cannot write frame records to " + path);
    m_ring.resize(CAPACITY);
    std::array<char, HEADER> header{'N', 'E', 'T', 'B', 'O', 'X', 'I', 'T'};
    const std::array<std::uint32_t, 2> versionAndSize{1, sizeof(Record)};
    std::memcpy(header.data() + 8, versionAndSize.data(), 8);
    WriteWhole(m_file.Get(), header.data(), header.size(), 0, "cannot write frame records to " + path);
}

RecordFile::~RecordFile()
{
    WriteAll();
}

void RecordFile::Add(const Record& record)
{
    if (m_ring.empty())
    {
        return;
    }
    if (m_count == m_ring.size() && m_wait)
    {
        WriteAll();
    }
    if (m_count == m_ring.size())
    {
        ++m_dropped;
        return;
    }
    m_ring[(m_first + m_count++) % m_ring.size()] = record;
}

void RecordFile::WritePiece()
{
    const auto count = std::min({m_count, PIECE, m_ring.size() - m_first});
    if (count == 0)
    {
        return;
    }
    try
    {
        const auto place = HEADER + m_written * sizeof(Record);
        WriteWhole(m_file.Get(),
                   m_ring.data() + m_first,
                   count * sizeof(Record),
                   place,
                   "cannot write frame records");
        m_written += count;
    }
    catch (const std::system_error&)
    {
        // A full disk must not stop the emulation; the statistics tell.
        m_dropped += count;
    }
    m_count -= count;
    // Empty, it begins anew where its memory is in use already.
    m_first = m_count == 0 ? 0 : (m_first + count) % m_ring.size();
}

void RecordFile::WriteAll()
{
    while (HasWork())
    {
        WritePiece();
    }
}

} // namespace netboxit
