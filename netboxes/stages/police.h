// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "meter.h"
#include "stage.h"

#include <cstdint>

namespace netboxit::stages
{

/// A policer: it drops packets that exceed a token bucket (RFC 2475, section 2.3.3.4: a dropper behind a meter; the meter is that of RFC 2697
/// with `rate` as committed information rate, `burst` as committed burst size and an excess burst size of 0). It has no queue: TCP through
/// it loses packets in bursts.
///
/// Settings: `rate`, `burst`, `direction` and `per` of Meter. Frames of all kinds count, also ARP: nobody evades the policer by an EtherType.
class Police : public Stage
{
  public:
    /// Throws nlohmann::json::exception or std::invalid_argument where settings are not as above.
    explicit Police(const Json& settings);

    bool Entering(std::span<std::uint8_t> frame, const Headers& headers, std::int64_t now) override;
    bool Leaving(std::span<std::uint8_t> frame, const Headers& headers, std::int64_t now) override;
    void Check(const Json& settings) const override;
    void Set(const Json& settings, std::int64_t now) override;

    bool Polices() const override
    {
        return true;
    }

    /// Of the directions that it polices:
    /// - `passed`, `passed_bytes`, `dropped`, `dropped_bytes`: packets, and their bytes from the layer-3 header on;
    /// - `nodes`: with a bucket of their own; `shared`: packets of those that had to share one, as there were too many.
    Json Read(std::int64_t now) const override;

  private:
    bool Passes(const Headers& headers, Direction direction, std::int64_t now);

    Meter m_meter;
    std::uint64_t m_passed{};
    std::uint64_t m_passedBytes{};
    std::uint64_t m_dropped{};
    std::uint64_t m_droppedBytes{};
};

} // namespace netboxit::stages
