// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace netboxit::wimax
{

/// A mandatory channel coding per modulation (IEEE 802.16-2009, 8.3.3.2.3, Table 215 of 2004): one
/// Reed-Solomon block fills one OFDM symbol.
struct BurstProfile
{
    std::string_view name;
    std::uint32_t bytesPerSymbol; ///< uncoded block size
};

using ProfileId = std::size_t;

inline constexpr std::array<BurstProfile, 7> PROFILES{{
    {"BPSK 1/2", 12},
    {"QPSK 1/2", 24},
    {"QPSK 3/4", 36},
    {"16-QAM 1/2", 48},
    {"16-QAM 3/4", 72},
    {"64-QAM 2/3", 96},
    {"64-QAM 3/4", 108},
}};

inline constexpr ProfileId MOST_ROBUST = 0;

/// A zero byte at the end of each burst brings the convolutional coder back to state zero (8.3.3.2.1).
inline constexpr std::uint32_t TAIL_BYTES = 1;

/// Bytes of MAC PDUs that a burst of so many symbols carries.
std::uint32_t BurstBytes(ProfileId profile, std::uint32_t symbols);

/// Symbols that a burst of so many bytes of MAC PDUs takes; none for no bytes.
std::uint32_t BurstSymbols(ProfileId profile, std::uint32_t bytes);

/// The receiver SNR of each profile, in dB.
using SnrThresholds = std::array<double, PROFILES.size()>;

/// Chooses profiles by the receiver SNR at which the standard wants a bit error ratio of 1e-6 after decoding.
class ReceiverSnr
{
  public:
    /// With `fixed` that profile is chosen whenever the most robust one is received.
    explicit ReceiverSnr(const SnrThresholds& thresholdsDb, std::optional<ProfileId> fixed = {})
        : m_thresholdsDb(thresholdsDb), m_fixed(fixed)
    {
    }

    double ThresholdDb(ProfileId profile) const
    {
        return m_thresholdsDb[profile];
    }

    /// The profile for a signal that was last served by `current`: down at the threshold, up (or back from no
    /// link at all) only `hysteresisDb` above it. Nothing when not even the most robust profile is received.
    /// Without `current` thresholds alone decide.
    std::optional<ProfileId> Choose(double snrDb,
                                    std::optional<ProfileId> current,
                                    double hysteresisDb) const;

    /// The most efficient profile whose threshold plus margin is met.
    std::optional<ProfileId> Best(double snrDb, double marginDb) const;

  private:
    SnrThresholds m_thresholdsDb;
    std::optional<ProfileId> m_fixed;
};

} // namespace netboxit::wimax
