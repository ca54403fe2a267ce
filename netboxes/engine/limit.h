// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "segment.h"

namespace netboxit
{

/// What a value may be: a `Limit` of netbox.json (contracts/netbox_configuration.py), which netboxes/limits.py makes from a
/// technology's models.
class Limit
{
  public:
    virtual ~Limit() = default;

    /// What is wrong with `value`: which `part` of a parameter, and what that may be. Nothing: it is within the limit.
    std::optional<std::string> Fault(const Json& value, const std::string& part = "") const
    {
        return m_isOptional && value.is_null() ? std::nullopt : FaultOfValue(value, part);
    }

    /// As Fault, where null is no value.
    virtual std::optional<std::string> FaultOfValue(const Json& value, const std::string& part = "") const = 0;

  protected:
    explicit Limit(const Json& said) : m_isOptional(said.value("optional", false))
    {
    }

  private:
    bool m_isOptional;
};

/// Throws std::invalid_argument, or an exception of Json.
std::shared_ptr<const Limit> MakeLimit(const Json& said);

} // namespace netboxit
