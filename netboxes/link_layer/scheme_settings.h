// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "link_facts.h"

#include "settings_reader.h"

#include <cstdint>
#include <optional>
#include <string>

namespace netboxit::multiservice
{

using Json = nlohmann::json;

/// The settings that several schemes have, each with its limits. What is not permitted throws std::invalid_argument, as in
/// SettingsReader.
class SchemeSettings
{
  public:
    /// All outlive this. `settings` has its scheme's name as `scheme`.
    SchemeSettings(const Json& settings, const LinkFacts& facts);

    /// ns of a timer that waits for an answer: not below the time of the longest frame, which itself is no answer.
    std::int64_t Timer(const char* key, std::uint8_t headerBytes) const;
    /// ns.
    std::int64_t Time(const char* key) const;
    /// Bits of sequence numbers: 8 as in the source, or from 3 to 16.
    unsigned SequenceBits() const;
    /// A number of frames, at most half of the sequence numbers: beyond that an old frame can be taken for a new one.
    std::uint32_t HalfOf(const char* key, unsigned sequenceBits) const;
    bool FlagOr(const char* key, bool otherwise) const
    {
        return m_reader.FlagOr(key, otherwise);
    }

    /// A whole number.
    unsigned Integer(const char* key, unsigned least, unsigned most) const;

    [[noreturn]] void Refuse(const char* key, const std::string& permitted) const
    {
        m_reader.Refuse(key, m_settings.at(key), permitted);
    }

  private:
    const Json& m_settings;
    const LinkFacts& m_facts;
    std::string m_scheme;
    stages::SettingsReader m_reader;
};

} // namespace netboxit::multiservice
