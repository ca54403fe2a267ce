// SPDX-License-Identifier: GPL-2.0-or-later
#include "settings_reader.h"

#include <algorithm>
#include <cmath>
#include <sstream>
#include <stdexcept>

namespace netboxit::stages
{

namespace
{

std::string WordsOf(const Range& range)
{
    std::ostringstream words;
    words << "a number " << (range.isOpen ? "above " : "from ") << range.least << " to " << range.most;
    return words.str();
}

} // namespace

double SettingsReader::Number(const char* key, const Range& range) const
{
    const auto& value = m_settings.at(key);
    const auto number = value.is_number() ? value.get<double>() : std::nan("");
    const bool isAbove = range.isOpen ? number > range.least : number >= range.least;
    if (!(isAbove && number <= range.most)) // also of what is no number
    {
        Refuse(key, value, WordsOf(range));
    }
    return number;
}

double SettingsReader::NumberOr(const char* key, double otherwise, const Range& range) const
{
    return IsNull(key) ? otherwise : Number(key, range);
}

std::optional<double> SettingsReader::NumberIfAny(const char* key, const Range& range) const
{
    return IsNull(key) ? std::nullopt : std::optional(Number(key, range));
}

std::optional<unsigned> SettingsReader::IntegerIfAny(const char* key, unsigned least, unsigned most) const
{
    const auto number = NumberIfAny(key, {static_cast<double>(least), static_cast<double>(most)});
    if (number && *number != std::floor(*number))
    {
        Refuse(key, m_settings.at(key), "a whole number");
    }
    return number ? std::optional(static_cast<unsigned>(*number)) : std::nullopt;
}

bool SettingsReader::FlagOr(const char* key, bool otherwise) const
{
    if (IsNull(key))
    {
        return otherwise;
    }
    const auto& value = m_settings.at(key);
    if (!value.is_boolean())
    {
        Refuse(key, value, "true or false");
    }
    return value;
}

std::optional<std::int64_t> SettingsReader::TimeOrNull(const char* key, double otherwise) const
{
    const auto value = m_settings.find(key);
    if (value != m_settings.end() && value->is_null())
    {
        return std::nullopt;
    }
    return std::llround(NumberOr(key, otherwise, TIMES) * NS_PER_S);
}

bool SettingsReader::IsNull(const char* key) const
{
    const auto value = m_settings.find(key);
    return value == m_settings.end() || value->is_null();
}

std::size_t SettingsReader::IndexOf(const char* key, std::span<const std::string_view> names) const
{
    const auto& value = m_settings.at(key);
    const auto name = value.is_string() ? std::ranges::find(names, value.get<std::string>()) : names.end();
    if (name == names.end())
    {
        std::string words;
        for (const auto& permitted : names)
        {
            words += (words.empty() ? "" : " or ") + std::string(permitted);
        }
        Refuse(key, value, words);
    }
    return static_cast<std::size_t>(name - names.begin());
}

void SettingsReader::Refuse(const std::string& key, const Json& value, const std::string& permitted) const
{
    // What no encoding permits is shown all the same.
    const auto shown = value.dump(-1, ' ', false, Json::error_handler_t::replace);
    throw std::invalid_argument(std::string(m_stage) + ": " + key + " is " + shown + ", not " + permitted);
}

} // namespace netboxit::stages
