// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace netboxit::stages
{

/// The smallest value of the last `window`, in constant space: the best value, the best one after it, and the best one after that, of the
/// last quarters of the window (K. Nichols; the same as in Linux's lib/minmax.c, by which BBR keeps its RTT).
class WindowedMinimum
{
  public:
    /// `window` in ns; nothing: all values count for ever.
    void Add(std::int64_t value, std::int64_t now, std::optional<std::int64_t> window);

    /// Of the last call of Add; nothing before the first.
    std::optional<std::int64_t> Value() const
    {
        return m_isEmpty ? std::nullopt : std::optional(m_best[0].value);
    }

  private:
    struct Sample
    {
        std::int64_t value;
        std::int64_t at;
    };

    void Age(const Sample& sample, std::int64_t window);

    bool m_isEmpty{true};
    std::array<Sample, 3> m_best{};
};

/// The round-trip time between a gateway and the remote end of a TCP flow, as the gateway sees it: the time from a segment to the ACK that
/// covers it. Segments that were sent twice give no sample (Karn's algorithm; RFC 6298, section 3). The handshake's SYN gives the first.
class PassiveRtt
{
  public:
    /// Segments that await their ACK; while there are so many, further ones are not traced.
    static constexpr std::size_t LONGEST_LIST = 16;
    /// A segment that was not acknowledged for so long gives no sample, ns. A path over two satellites with a second of queue at each stays
    /// far below it.
    static constexpr std::int64_t LARGEST = 10'000'000'000;
    /// Smaller ones count as this one, ns, where something is divided by them: of two ends in one process, in virtual time, it may be 0.
    static constexpr std::int64_t SMALLEST = 1000;

    /// A segment from `sequence` up to, but without, `end` goes to the remote end. It is not empty: `sequence` differs from `end`.
    void Sent(std::uint32_t sequence, std::uint32_t end, std::int64_t now);
    /// The remote end acknowledges what is before `acknowledgement`. `window` of the minimum in ns; nothing: the flow's life. The sample that
    /// this gives, ns, if any.
    std::optional<std::int64_t> Acknowledged(std::uint32_t acknowledgement, std::int64_t now, std::optional<std::int64_t> window);

    /// ns; nothing before the first sample.
    std::optional<std::int64_t> Minimum() const
    {
        return m_minimum.Value();
    }

    std::size_t Traced() const
    {
        return m_size;
    }

  private:
    struct Trace
    {
        std::uint32_t end;
        std::int64_t sent;
    };

    void PopFront();
    void ForgetOld(std::int64_t now);

    // What each segment asks for is in one place in memory; traces are many.
    std::size_t m_first{};
    std::size_t m_size{};
    std::optional<std::uint32_t> m_next; ///< behind all that was sent
    WindowedMinimum m_minimum;
    std::array<Trace, LONGEST_LIST> m_traces{}; ///< a ring, in the order of `end`
};

} // namespace netboxit::stages
