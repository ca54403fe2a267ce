// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "stage.h"

#include <cstddef>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace netboxit::stages
{

inline constexpr double BITS_PER_BYTE = 8;
inline constexpr double NS_PER_S = 1e9;

/// What a number may be.
struct Range
{
    double least;
    double most;
    bool isOpen{}; ///< `least` itself is not permitted
};

/// Above 0, and a petabit per second at most: sums of bytes over a year stay exact to the byte.
inline constexpr Range RATES{0, 1e15, true};
/// s.
inline constexpr Range TIMES{0, 1e9, true};

/// The settings of one stage. A key with null is as one that is absent. What is not permitted throws std::invalid_argument, with the stage, the
/// key, its value and what is permitted.
class SettingsReader
{
  public:
    /// `settings` and `stage` outlive this.
    SettingsReader(const Json& settings, std::string_view stage) : m_settings(settings), m_stage(stage)
    {
    }

    /// Throws nlohmann::json::exception where there is no such key.
    double Number(const char* key, const Range& range) const;
    double NumberOr(const char* key, double otherwise, const Range& range) const;
    std::optional<double> NumberIfAny(const char* key, const Range& range) const;
    std::optional<unsigned> IntegerIfAny(const char* key, unsigned least, unsigned most) const;
    bool FlagOr(const char* key, bool otherwise) const;

    /// One of an enumeration whose words are `names`, in its order.
    template <typename Choice>
    Choice ChoiceOr(const char* key, std::span<const std::string_view> names, Choice otherwise) const
    {
        return IsNull(key) ? otherwise : static_cast<Choice>(IndexOf(key, names));
    }

    /// ns of a time in s, `otherwise` where nothing is said; nothing where it is null, that is a flow's life.
    std::optional<std::int64_t> TimeOrNull(const char* key, double otherwise) const;
    /// In which a round-trip time is the smallest one: "rtt_window", 10 s.
    std::optional<std::int64_t> RttWindow() const
    {
        return TimeOrNull("rtt_window", 10);
    }

    [[noreturn]] void Refuse(const std::string& key, const Json& value, const std::string& permitted) const;

  private:
    bool IsNull(const char* key) const;
    std::size_t IndexOf(const char* key, std::span<const std::string_view> names) const;

    const Json& m_settings;
    std::string_view m_stage;
};

} // namespace netboxit::stages
