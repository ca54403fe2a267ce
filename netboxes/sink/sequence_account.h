// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <cstdint>
#include <vector>

namespace netboxit
{

/// Which of a flow's numbered frames have arrived. What is older than WINDOW numbers can no longer be told from a duplicate.
class SequenceAccount
{
  public:
    SequenceAccount();

    void Arrived(std::uint64_t sequence);

    /// Different frames that have arrived.
    std::uint64_t Received() const
    {
        return m_received;
    }

    /// Numbers between the lowest and the highest that have not arrived (yet).
    std::uint64_t Lost() const
    {
        return m_next - m_lowest - m_received;
    }

    /// Further arrivals of frames that have arrived (RFC 5560).
    std::uint64_t Duplicates() const
    {
        return m_duplicates;
    }

    /// Frames that came after one with a higher number (RFC 4737, 3.4).
    std::uint64_t Reordered() const
    {
        return m_reordered;
    }

    /// Frames that came too late to say whether they are duplicates; in Lost() they are still missing.
    std::uint64_t Unplaced() const
    {
        return m_unplaced;
    }

    std::uint64_t Lowest() const
    {
        return m_lowest;
    }

    /// One more than the highest number.
    std::uint64_t Next() const
    {
        return m_next;
    }

    static constexpr std::uint64_t WINDOW = 65536;

  private:
    std::uint64_t& WordOf(std::uint64_t sequence)
    {
        return m_seen[sequence % WINDOW / 64];
    }

    static std::uint64_t BitOf(std::uint64_t sequence)
    {
        return std::uint64_t{1} << sequence % 64;
    }

    void MoveOn(std::uint64_t sequence);

    std::vector<std::uint64_t> m_seen; ///< one bit for each of the last WINDOW numbers
    std::uint64_t m_lowest{0};
    std::uint64_t m_next{0};
    std::uint64_t m_received{0};
    std::uint64_t m_duplicates{0};
    std::uint64_t m_reordered{0};
    std::uint64_t m_unplaced{0};
};

} // namespace netboxit
