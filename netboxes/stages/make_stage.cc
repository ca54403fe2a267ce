// SPDX-License-Identifier: GPL-2.0-or-later
#include "make_stage.h"

#include "green.h"
#include "mark.h"
#include "pink.h"
#include "police.h"
#include "qrm.h"

#include <map>
#include <stdexcept>
#include <string>

namespace netboxit::stages
{

namespace
{

using Made = std::unique_ptr<Stage>;

template <typename Kind>
Made Make(const Json& settings, std::uint64_t)
{
    return std::make_unique<Kind>(settings);
}

Made MakeGreen(const Json& settings, std::uint64_t seed)
{
    return std::make_unique<Green>(settings, seed);
}

} // namespace

std::unique_ptr<Stage> MakeStage(const Json& settings, std::uint64_t seed)
{
    static const std::map<std::string, Made (*)(const Json&, std::uint64_t)> makers{
        {"green", MakeGreen}, {"mark", Make<Mark>}, {"pink", Make<Pink>}, {"police", Make<Police>}, {"qrm", Make<Qrm>}};
    const std::string kind = settings.at("stage");
    const auto maker = makers.find(kind);
    if (maker == makers.end())
    {
        std::string kinds;
        for (const auto& [name, make] : makers)
        {
            kinds += (kinds.empty() ? "" : ", ") + name;
        }
        throw std::invalid_argument("no stage is called \"" + kind + "\"; there are " + kinds);
    }
    return maker->second(settings, seed);
}

} // namespace netboxit::stages
