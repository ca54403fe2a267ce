// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <nlohmann/json.hpp>

#include <string>

namespace netboxit
{

/// Path loss by distance.
class Propagation
{
  public:
    explicit Propagation(const nlohmann::json& parameters);

    /// dB.
    double Loss(double metres) const;

  private:
    double FreeSpace(double metres) const;
    /// Hata 1980, for 150 to 1500 MHz, 1 to 20 km, and bases of 30 to 200 m.
    double Hata(double metres) const;

    std::string m_model;
    std::string m_environment;
    double m_frequency; ///< Hz
    double m_exponent;
    double m_baseHeight;
    double m_terminalHeight;
};

} // namespace netboxit
