// SPDX-License-Identifier: GPL-2.0-or-later
#include "propagation.h"

#include "../engine/nature.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace netboxit
{

Propagation::Propagation(const nlohmann::json& parameters)
    : m_model(parameters.at("propagation")), m_environment(parameters.at("environment")),
      m_frequency(parameters.at("frequency")), m_exponent(parameters.at("path_loss_exponent")),
      m_baseHeight(parameters.at("base_height")), m_terminalHeight(parameters.at("terminal_height"))
{
}

double Propagation::Loss(double metres) const
{
    if (m_model == "friis")
    {
        return FreeSpace(metres);
    }
    if (m_model == "log-distance")
    {
        return FreeSpace(1.0) + 10.0 * m_exponent * std::log10(std::max(metres, 1.0));
    }
    return std::max(FreeSpace(metres), Hata(metres));
}

double Propagation::FreeSpace(double metres) const
{
    return std::max(0.0, 20.0 * std::log10(4.0 * std::numbers::pi * std::max(metres, 0.1) * m_frequency / SPEED_OF_LIGHT));
}

double Propagation::Hata(double metres) const
{
    const double megahertz = std::log10(m_frequency / 1e6);
    const double height = std::log10(m_baseHeight);
    const double terminal = (1.1 * megahertz - 0.7) * m_terminalHeight - (1.56 * megahertz - 0.8);
    const double urban = 69.55 + 26.16 * megahertz - 13.82 * height - terminal +
                         (44.9 - 6.55 * height) * std::log10(std::max(metres, 1.0) / 1e3);
    if (m_environment == "suburban")
    {
        return urban - 2.0 * std::pow(megahertz - std::log10(28.0), 2) - 5.4;
    }
    return m_environment == "open" ? urban - 4.78 * megahertz * megahertz + 18.33 * megahertz - 40.94 : urban;
}

} // namespace netboxit
