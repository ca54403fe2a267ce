// SPDX-License-Identifier: GPL-2.0-or-later
#include "make_stage.h"

#include "pink.h"

#include <stdexcept>
#include <string>

namespace netboxit::stages
{

std::unique_ptr<Stage> MakeStage(const Json& settings, std::uint64_t seed)
{
    const std::string kind = settings.at("stage");
    if (kind == "pink")
    {
        return std::make_unique<Pink>(settings);
    }
    throw std::invalid_argument("no stage is called \"" + kind + "\"; there is pink");
}

} // namespace netboxit::stages
