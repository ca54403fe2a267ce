// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "service_flow.h"

#include <cstdint>
#include <optional>

namespace netboxit::wimax
{

/// Bytes on the air of one unsolicited grant of a connection at a rate (bit/s): the payload of an interval, and
/// headers for the SDUs in it, of which the first may have begun in the grant before and the last may end in the
/// next. Without fragmentation whole SDUs.
std::uint32_t UnsolicitedBytes(const ServiceFlow& flow, double rate);

/// How a subscriber sizes the grants of its ertPS connection (6.3.5.2.2.1 leaves it free): larger at once when
/// they do not hold what waits, smaller after PATIENCE grants that were larger than needed, to the greatest need
/// among those. No need at all for so long ends the grants (size zero); then it is only polled.
class GrantSize
{
  public:
    static constexpr std::uint32_t PATIENCE = 4;

    explicit GrantSize(std::uint32_t largest) : m_largest(largest)
    {
    }

    /// A grant of so many bytes has come while `needed` bytes wait: the size to ask for, when it should change.
    std::optional<std::uint32_t> Ask(std::uint32_t needed, std::uint32_t granted);

  private:
    std::uint32_t m_largest;
    std::uint32_t m_larger{}; ///< grants in a row that were larger than needed
    std::uint32_t m_need{};   ///< the greatest need among those
};

} // namespace netboxit::wimax
