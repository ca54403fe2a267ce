// SPDX-License-Identifier: GPL-2.0-or-later
#include "make_bearer_discipline.h"

#include "codel_second.h"
#include "cqi_aqm.h"
#include "qoe_aqm.h"

#include <cmath>
#include <map>

namespace netboxit
{

namespace
{

using Made = std::unique_ptr<queueing::Discipline>;
using MakeKnowing = Made (*)(const Json&, queueing::Chance, queueing::DropCallback, BearerView);

std::int64_t Nanoseconds(const Json& seconds)
{
    return std::llround(seconds.get<double>() * 1e9);
}

Made MakeCodelSecond(const Json& queue, queueing::Chance, queueing::DropCallback dropped, BearerView bearer)
{
    const CodelSecond::Settings settings{.target = Nanoseconds(queue.at("target")), .interval = Nanoseconds(queue.at("interval"))};
    return std::make_unique<CodelSecond>(queueing::RoomOf(queue), settings, std::move(dropped), std::move(bearer));
}

Made MakeCqiAqm(const Json& queue, queueing::Chance chance, queueing::DropCallback dropped, BearerView bearer)
{
    const CqiAqm::Settings settings{
        .delayMin = queue.at("delay_min"), .delayMax = queue.at("delay_max"), .emptyReset = queue.at("empty_reset")};
    if (settings.delayMin >= settings.delayMax)
    {
        throw OutOfRange("queue cannot be " + queue.dump() + "; its delay_min is below its delay_max");
    }
    return std::make_unique<CqiAqm>(queueing::RoomOf(queue), settings, std::move(chance), std::move(dropped), std::move(bearer));
}

Made MakeQoeAqm(const Json& queue, queueing::Chance, queueing::DropCallback dropped, BearerView bearer)
{
    const QoeAqm::Settings settings{.scoreMin = queue.at("mos_min"),
                                    .scoreMax = queue.at("mos_max"),
                                    .pathDelay = queue.at("path_delay"),
                                    .checkEvery = queue.at("check_every"),
                                    .lossWindow = queue.at("loss_window")};
    if (settings.scoreMin >= settings.scoreMax)
    {
        throw OutOfRange("queue cannot be " + queue.dump() + "; its mos_min is below its mos_max");
    }
    return std::make_unique<QoeAqm>(queueing::RoomOf(queue), settings, std::move(dropped), std::move(bearer));
}

/// Of those that know the bearer; nullptr: of another one.
MakeKnowing Knowing(const Json& queue)
{
    static const std::map<std::string, MakeKnowing> makers{
        {"codel-second", MakeCodelSecond}, {"cqi", MakeCqiAqm}, {"qoe", MakeQoeAqm}};
    const auto found = makers.find(queue.at("discipline"));
    return found == makers.end() ? nullptr : found->second;
}

} // namespace

queueing::Maker MakerForEnodeb(BearerView bearer)
{
    return [bearer = std::move(bearer)](
               const Json& queue, queueing::Chance chance, queueing::DropCallback dropped, queueing::MarkCallback mark) {
        const auto make = Knowing(queue);
        return make ? make(queue, std::move(chance), std::move(dropped), bearer)
                    : queueing::MakeDiscipline(queue, std::move(chance), std::move(dropped), std::move(mark));
    };
}

queueing::Maker MakerForTerminal()
{
    return [](const Json& queue, queueing::Chance chance, queueing::DropCallback dropped, queueing::MarkCallback mark) {
        auto own = queue;
        if (Knowing(queue))
        {
            own["discipline"] = "fifo";
        }
        return queueing::MakeDiscipline(own, std::move(chance), std::move(dropped), std::move(mark));
    };
}

} // namespace netboxit
