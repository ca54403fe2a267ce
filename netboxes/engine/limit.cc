// SPDX-License-Identifier: GPL-2.0-or-later
#include "limit.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <sstream>

namespace netboxit
{

namespace
{

using LimitPtr = std::shared_ptr<const Limit>;
using Limits = std::map<std::string, LimitPtr>;

/// Far more than any parameter has: a damaged configuration does not use up the stack.
constexpr int DEEPEST = 16;

LimitPtr Make(const Json& said, int depth);

std::string Subject(const std::string& part)
{
    return part.empty() ? "it" : "its " + part;
}

std::string Element(const std::string& part, std::size_t number)
{
    return part + '[' + std::to_string(number) + ']';
}

template <typename Words>
std::string Joined(const Words& words)
{
    std::string joined;
    for (const auto& word : words)
    {
        joined += ' ' + word;
    }
    return joined;
}

/// Whatever its segment takes.
class AnyLimit : public Limit
{
  public:
    explicit AnyLimit(const Json& said) : Limit(said)
    {
    }

    std::optional<std::string> FaultOfValue(const Json&, const std::string&) const override
    {
        return std::nullopt;
    }
};

class NumberLimit : public Limit
{
  public:
    explicit NumberLimit(const Json& said)
        : Limit(said), m_minimum(said.at("minimum")), m_maximum(said.at("maximum")), m_unit(said.at("unit")),
          m_isWhole(said.value("whole", false))
    {
    }

    std::optional<std::string> FaultOfValue(const Json& value, const std::string& part) const override
    {
        if (value.is_number() && IsWithin(value.get<double>()))
        {
            return std::nullopt;
        }
        std::ostringstream message;
        message << Subject(part) << (m_isWhole ? " is a whole number from " : " is a number from ") << m_minimum << " to "
                << m_maximum << (m_unit.empty() ? "" : " ") << m_unit;
        return message.str();
    }

  private:
    bool IsWithin(double number) const
    {
        return number >= m_minimum && number <= m_maximum && (!m_isWhole || number == std::trunc(number));
    }

    double m_minimum;
    double m_maximum;
    std::string m_unit;
    bool m_isWhole;
};

class TruthLimit : public Limit
{
  public:
    explicit TruthLimit(const Json& said) : Limit(said)
    {
    }

    std::optional<std::string> FaultOfValue(const Json& value, const std::string& part) const override
    {
        return value.is_boolean() ? std::nullopt : std::optional(Subject(part) + " is true or false");
    }
};

class WordLimit : public Limit
{
  public:
    explicit WordLimit(const Json& said) : Limit(said), m_words(said.at("words").get<std::vector<std::string>>())
    {
    }

    std::optional<std::string> FaultOfValue(const Json& value, const std::string& part) const override
    {
        return value.is_string() && std::ranges::count(m_words, value.get_ref<const std::string&>()) > 0
                   ? std::nullopt
                   : std::optional(Subject(part) + " is one of" + Joined(m_words));
    }

  private:
    std::vector<std::string> m_words;
};

class MappingLimit : public Limit
{
  public:
    MappingLimit(const Json& said, int depth) : Limit(said), m_keys(Read(said.at("keys"), depth))
    {
        const auto cases = said.value("cases", Json::object());
        for (const auto& [key, words] : cases.items())
        {
            for (const auto& [word, keys] : words.items())
            {
                m_cases[key][word] = Read(keys, depth);
            }
        }
    }

    std::optional<std::string> FaultOfValue(const Json& value, const std::string& part) const override
    {
        if (!value.is_object())
        {
            std::vector<std::string> names;
            std::ranges::transform(m_keys, std::back_inserter(names), &Limits::value_type::first);
            return Subject(part) + " is a mapping with" + Joined(names);
        }
        auto fault = FaultOfKeys(m_keys, value, part);
        for (const auto& [key, words] : m_cases)
        {
            const auto word = value.find(key);
            const auto further = word != value.end() && word->is_string() ? words.find(word->get<std::string>()) : words.end();
            if (!fault && further != words.end())
            {
                fault = FaultOfKeys(further->second, value, part);
            }
        }
        return fault;
    }

  private:
    static Limits Read(const Json& said, int depth)
    {
        Limits limits;
        for (const auto& [key, limit] : said.items())
        {
            limits[key] = Make(limit, depth + 1);
        }
        return limits;
    }

    static std::optional<std::string> FaultOfKeys(const Limits& limits, const Json& value, const std::string& part)
    {
        static const Json absent;
        for (const auto& [key, limit] : limits)
        {
            const auto found = value.find(key);
            if (auto fault = limit->Fault(found == value.end() ? absent : *found, part.empty() ? key : part + '.' + key))
            {
                return fault;
            }
        }
        return std::nullopt;
    }

    Limits m_keys;
    std::map<std::string, std::map<std::string, Limits>> m_cases;
};

class ListLimit : public Limit
{
  public:
    ListLimit(const Json& said, int depth)
        : Limit(said), m_item(Make(said.at("items"), depth + 1)), m_fewest(said.at("fewest"))
    {
    }

    std::optional<std::string> FaultOfValue(const Json& value, const std::string& part) const override
    {
        if (!value.is_array() || value.size() < m_fewest)
        {
            return Subject(part) + " is a list" + (m_fewest > 0 ? " of " + std::to_string(m_fewest) + " or more" : "");
        }
        std::optional<std::string> fault;
        for (std::size_t number = 0; number < value.size() && !fault; ++number)
        {
            fault = m_item->Fault(value[number], Element(part, number));
        }
        return fault;
    }

  private:
    LimitPtr m_item;
    std::size_t m_fewest;
};

class PartsLimit : public Limit
{
  public:
    PartsLimit(const Json& said, int depth) : Limit(said)
    {
        for (const auto& part : said.at("parts"))
        {
            m_parts.push_back(Make(part, depth + 1));
        }
    }

    std::optional<std::string> FaultOfValue(const Json& value, const std::string& part) const override
    {
        if (!value.is_array() || value.size() != m_parts.size())
        {
            const auto first = m_parts.empty() ? std::nullopt : m_parts.front()->FaultOfValue(nullptr, Element(part, 0));
            return Subject(part) + " is a list of " + std::to_string(m_parts.size()) + (first ? ", " + *first : "");
        }
        std::optional<std::string> fault;
        for (std::size_t number = 0; number < value.size() && !fault; ++number)
        {
            fault = m_parts[number]->Fault(value[number], Element(part, number));
        }
        return fault;
    }

  private:
    std::vector<LimitPtr> m_parts;
};

LimitPtr Make(const Json& said, int depth)
{
    if (!said.is_object() || depth > DEEPEST)
    {
        throw std::invalid_argument(said.is_object() ? "limits are too deep" : "a limit is an object");
    }
    if (said.contains("minimum"))
    {
        return std::make_shared<NumberLimit>(said);
    }
    if (said.contains("truth"))
    {
        return std::make_shared<TruthLimit>(said);
    }
    if (said.contains("words"))
    {
        return std::make_shared<WordLimit>(said);
    }
    if (said.contains("keys"))
    {
        return std::make_shared<MappingLimit>(said, depth);
    }
    if (said.contains("items"))
    {
        return std::make_shared<ListLimit>(said, depth);
    }
    if (said.contains("parts"))
    {
        return std::make_shared<PartsLimit>(said, depth);
    }
    return std::make_shared<AnyLimit>(said);
}

} // namespace

std::shared_ptr<const Limit> MakeLimit(const Json& said)
{
    return Make(said, 0);
}

} // namespace netboxit
