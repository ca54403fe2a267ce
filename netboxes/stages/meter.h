// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "direction.h"
#include "nodes.h"
#include "settings_reader.h"
#include "token_bucket.h"

#include <array>
#include <cstdint>
#include <optional>

namespace netboxit::stages
{

/// Tells which packets keep a profile (RFC 2475, section 2.3.3.1): by one token bucket for all of a direction, or by one for each node.
///
/// Settings:
/// - `rate`: bit/s;
/// - `burst`: bytes, at least 1500; what `rate` sends in 100 ms, and at least ten packets of 1500 bytes. Without such a burst TCP does not
///   reach the rate: its packets come in groups. A packet longer than the burst never keeps the profile;
/// - `direction`: "entering" (from the node), "leaving" (to the node) or "both", each by buckets of its own; "entering";
/// - `per`: "port" (all packets together) or "node" (each IP address of the node's side has a bucket of its own); "port".
///
/// Packets count from their layer-3 header on. Of nodes there are at most CAPACITY. A node whose bucket is full again is as good as unknown, so
/// it makes room; where none is, further nodes share one bucket, with frames that are not IP.
class Meter
{
  public:
    static constexpr std::uint32_t CAPACITY = 16'384;
    static constexpr double SMALLEST_BURST = 1500;

    explicit Meter(const SettingsReader& settings);

    /// Throws where settings are not as above.
    static void Check(const SettingsReader& settings)
    {
        SettingsOf(settings);
    }

    /// Whether packets of the direction are metered at all.
    bool Has(Direction direction) const
    {
        return m_settings.side == Side::Both || m_settings.side == (direction == Direction::FromNode ? Side::Entering : Side::Leaving);
    }

    /// Whether a packet is within the profile. Call where Has(direction).
    bool Conforms(const Headers& headers, Direction direction, std::int64_t now);

    /// What buckets have stays, as far as it fits.
    void Set(const SettingsReader& settings, std::int64_t now);

    /// With a bucket of their own.
    std::uint32_t KnownNodes() const;

    /// Packets that had to share a bucket, as there were too many nodes.
    std::uint64_t Shared() const
    {
        return m_shared;
    }

  private:
    enum class Side
    {
        Entering,
        Leaving,
        Both
    };

    struct Settings
    {
        Profile profile;
        Side side;
        bool perNode;
    };

    struct Buckets
    {
        TokenBucket common;
        std::optional<Nodes<TokenBucket>> nodes;
    };

    static Settings SettingsOf(const SettingsReader& settings);

    Buckets& BucketsOf(Direction direction)
    {
        return m_buckets[direction == Direction::FromNode ? 0 : 1];
    }

    TokenBucket& BucketOf(const Headers& headers, Direction direction, std::int64_t now);
    bool MakesRoom(Nodes<TokenBucket>& nodes, std::int64_t now) const;
    void Prepare();

    Settings m_settings;
    SipHashKey m_seed{UnpredictableKey()};
    std::array<Buckets, 2> m_buckets;
    std::uint64_t m_shared{};
};

} // namespace netboxit::stages
