// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <cstdint>
#include <tuple>

namespace netboxit
{

/// Who goes first when not all guarantees can be upheld: allocation and retention priority, then the priority of the QCI.
struct Precedence
{
    int arp{15};
    int qciPriority{100};

    auto operator<=>(const Precedence&) const = default;
};

/// What a bearer with a guaranteed bit rate has waiting in one direction, and what it is entitled to: a token bucket that fills at the
/// guaranteed rate and holds what two seconds give (TS 23.203, 6.1.7.1: guarantees hold over an averaging window).
class Guarantee
{
  public:
    Guarantee() = default;
    /// `patience` is how long a frame may wait before others are held back for it, s.
    Guarantee(double rate, double patience, Precedence precedence);

    /// So many bytes wait now.
    void Waits(std::uint64_t bytes, std::int64_t now);
    /// So many bytes were granted. When others stood back for it (`exclusively`), what went beyond the entitlement is owed; what it got in
    /// competition is not.
    void Served(std::uint64_t bytes, std::int64_t now, bool exclusively);
    /// Whether others have to stand back: something to which the bearer is entitled has waited too long, or has grown to what its rate
    /// gives in that time.
    bool IsUrgent(std::int64_t now);

    double Rate() const
    {
        return m_rate;
    }
    const Precedence& ThePrecedence() const
    {
        return m_precedence;
    }

  private:
    void Fill(std::int64_t now);

    double m_rate{};            ///< bit/s
    std::int64_t m_patience{};  ///< ns
    Precedence m_precedence;
    double m_tokens{};          ///< bytes
    std::int64_t m_filled{};    ///< ns
    std::uint64_t m_waiting{};  ///< bytes
    std::int64_t m_since{};     ///< ns
};

/// TS 23.203, Table 6.1.7: priority level times 10, and packet delay budget in s, of the QCIs that parameters.py offers.
struct QciTraits
{
    int priority;
    double delayBudget;
};

QciTraits TraitsOf(int qci);

} // namespace netboxit
