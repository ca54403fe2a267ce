// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "meter.h"
#include "stage.h"

#include <cstdint>
#include <optional>

namespace netboxit::stages
{

/// A marker: it sets the DSCP of IP packets (RFC 2474; RFC 2475, section 2.3.3.2), by choice another one of those that exceed a token bucket.
/// That is RFC 2697 with two colours: `dscp` for green, `excess_dscp` for what it calls yellow and red. ECN's two bits stay. Each fragment
/// is a packet of its own; IPsec's headers do not cover the field (RFC 4302, section 3.3.3.1).
///
/// Settings:
/// - `dscp`: 0 to 63, of packets within the profile, or of all where there is no `rate`; null: those keep theirs;
/// - `rate`: bit/s; null: all packets are within the profile; null;
/// - `excess_dscp`: 0 to 63, of packets that exceed it; null: those keep theirs; null. It needs `rate`;
/// - `burst`, `per`: of Meter, for `rate`;
/// - `direction`: of Meter, also without `rate`.
///
/// At least one of `dscp` and `excess_dscp` is a number.
class Mark : public Stage
{
  public:
    /// Throws nlohmann::json::exception or std::invalid_argument where settings are not as above.
    explicit Mark(const Json& settings);

    bool Entering(std::span<std::uint8_t> frame, const Headers& headers, std::int64_t now) override;
    bool Leaving(std::span<std::uint8_t> frame, const Headers& headers, std::int64_t now) override;
    void Check(const Json& settings) const override;
    void Set(const Json& settings, std::int64_t now) override;
    /// Of the directions that it marks:
    /// - `within`, `exceeding`: IP packets, by the profile; `marked`: those with a new DSCP;
    /// - `unmanaged`: frames that are no IP packet, or none with a whole header: they pass as they are, and take no tokens;
    /// - `nodes`, `shared`: as of Police.
    Json Read(std::int64_t now) const override;

  private:
    struct Settings
    {
        std::optional<unsigned> dscp;
        std::optional<unsigned> excessDscp;
        bool hasRate;
    };

    static Settings SettingsOf(const SettingsReader& settings);
    static Json MeterSettings(const Json& settings);

    bool Passes(std::span<std::uint8_t> frame, const Headers& headers, Direction direction, std::int64_t now);

    Settings m_settings;
    Meter m_meter;
    std::uint64_t m_within{};
    std::uint64_t m_exceeding{};
    std::uint64_t m_marked{};
    std::uint64_t m_unmanaged{};
};

} // namespace netboxit::stages
