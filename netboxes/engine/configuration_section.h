// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "configuration.h"

#include <set>

namespace netboxit
{

/// One JSON object of the configuration. Every key must be asked for before Finish(), which refuses those
/// that nobody knows.
class Section
{
  public:
    Section(const Json& json, std::string path) : m_json(json), m_path(std::move(path))
    {
        if (!json.is_object())
        {
            throw BadConfiguration((m_path.empty() ? "configuration" : m_path) + ": not an object");
        }
    }

    std::string Path(const std::string& key) const
    {
        return m_path.empty() ? key : m_path + "." + key;
    }

    [[noreturn]] void Refuse(const std::string& key, const std::string& cause) const
    {
        throw BadConfiguration(Path(key) + ": " + cause);
    }

    /// The value of a key, null when it is absent.
    const Json& At(const std::string& key)
    {
        static const Json absent;
        m_asked.insert(key);
        const auto found = m_json.find(key);
        return found == m_json.end() ? absent : *found;
    }

    std::string Text(const std::string& key)
    {
        const auto& value = At(key);
        if (!value.is_string() || value.get_ref<const std::string&>().empty())
        {
            Refuse(key, value.is_null() ? "missing" : "is " + value.dump() + ", not a text");
        }
        return value;
    }

    std::string TextOr(const std::string& key, const std::string& otherwise)
    {
        return At(key).is_null() ? otherwise : Text(key);
    }

    bool Truth(const std::string& key)
    {
        const auto& value = At(key);
        if (!value.is_boolean())
        {
            Refuse(key, value.is_null() ? "missing" : "is " + value.dump() + ", not true or false");
        }
        return value;
    }

    double NumberOr(const std::string& key, double otherwise, double least, double most)
    {
        const auto& value = At(key);
        if (value.is_null())
        {
            return otherwise;
        }
        if (!value.is_number() || value.get<double>() < least || value.get<double>() > most)
        {
            Refuse(key,
                   "is " + value.dump() + ", not a number from " + Json(least).dump() + " to " +
                       Json(most).dump());
        }
        return value;
    }

    const Json& List(const std::string& key)
    {
        static const Json empty = Json::array();
        const auto& value = At(key);
        if (!value.is_null() && !value.is_array())
        {
            Refuse(key, "not a list");
        }
        return value.is_null() ? empty : value;
    }

    void Finish() const
    {
        for (const auto& [key, value] : m_json.items())
        {
            if (!m_asked.contains(key))
            {
                Refuse(key, "no such key");
            }
        }
    }

  private:
    const Json& m_json;
    std::string m_path;
    std::set<std::string> m_asked;
};

} // namespace netboxit
