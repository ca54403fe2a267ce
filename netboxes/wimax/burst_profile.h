// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace netboxit::wimax
{

/// The punctured convolutional code inside the concatenated code (8.3.3.2.2, Table 214 of 2004): mother code
/// of rate 1/2, constraint length 7.
enum class InnerCode
{
    Rate1_2,
    Rate2_3,
    Rate3_4,
    Rate5_6
};

/// A mandatory channel coding per modulation (IEEE 802.16-2009, 8.3.3.2.3, Table 215 of 2004): one
/// Reed-Solomon block fills one OFDM symbol.
struct BurstProfile
{
    std::string_view name;
    std::uint32_t bytesPerSymbol; ///< uncoded block size
    InnerCode innerCode;
    int rsLength; ///< RS(N, K, T): bytes after and before outer coding, and how many wrong ones it corrects
    int rsData;
    int rsCorrects;
};

using ProfileId = std::size_t;

inline constexpr std::array<BurstProfile, 7> PROFILES{{
    {"BPSK 1/2", 12, InnerCode::Rate1_2, 12, 12, 0},
    {"QPSK 1/2", 24, InnerCode::Rate2_3, 32, 24, 4},
    {"QPSK 3/4", 36, InnerCode::Rate5_6, 40, 36, 2},
    {"16-QAM 1/2", 48, InnerCode::Rate2_3, 64, 48, 8},
    {"16-QAM 3/4", 72, InnerCode::Rate5_6, 80, 72, 4},
    {"64-QAM 2/3", 96, InnerCode::Rate3_4, 108, 96, 6},
    {"64-QAM 3/4", 108, InnerCode::Rate5_6, 120, 108, 6},
}};

inline constexpr ProfileId MOST_ROBUST = 0;

/// A zero byte at the end of each burst brings the convolutional coder back to state zero (8.3.3.2.1).
inline constexpr std::uint32_t TAIL_BYTES = 1;

/// Bytes of MAC PDUs that a burst of so many symbols carries.
std::uint32_t BurstBytes(ProfileId profile, std::uint32_t symbols);

/// Symbols that a burst of so many bytes of MAC PDUs takes; none for no bytes.
std::uint32_t BurstSymbols(ProfileId profile, std::uint32_t bytes);

/// The receiver SNR of each profile at which the standard wants a bit error ratio of 1e-6 after decoding.
/// The first edition and the corrected one differ widely, and equipment as well as the literature follows
/// either.
class ReceiverSnr
{
  public:
    /// "802.16-2004" (8.3.11.1, Table 266) or "802.16-2009" (8.3.11.1; numbers since Corrigendum 1 of 2005).
    /// With `fixed` that profile is chosen whenever the most robust one is received.
    explicit ReceiverSnr(const std::string& edition, std::optional<ProfileId> fixed = {});

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
    std::array<double, PROFILES.size()> m_thresholdsDb;
    std::optional<ProfileId> m_fixed;
};

} // namespace netboxit::wimax
