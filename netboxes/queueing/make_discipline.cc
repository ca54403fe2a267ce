// SPDX-License-Identifier: GPL-2.0-or-later
#include "make_discipline.h"

#include "ared.h"
#include "drr.h"
#include "fq_codel.h"
#include "pie.h"
#include "priority.h"
#include "qfq.h"
#include "red.h"
#include "scfq.h"
#include "scheduled.h"
#include "wf2q_plus.h"

#include <cmath>
#include <map>

namespace netboxit::queueing
{

namespace
{

Room RoomOf(const Json& queue)
{
    const auto limit = [&queue](const char* key) { return queue.value(key, Json()); };
    Room room;
    if (const auto packets = limit("packets"); !packets.is_null())
    {
        room.packets = packets;
    }
    if (const auto bytes = limit("bytes"); !bytes.is_null())
    {
        room.bytes = bytes;
    }
    if (const auto buffer = limit("buffer"); !buffer.is_null())
    {
        room.buffer = buffer;
    }
    return room;
}

CodelLaw CodelLawOf(const Json& queue)
{
    return {std::llround(queue.at("target").get<double>() * 1e9), std::llround(queue.at("interval").get<double>() * 1e9), 1514};
}

using Made = std::unique_ptr<Discipline>;

Made MakeFifo(const Json& queue, Chance, DropCallback dropped)
{
    return std::make_unique<Fifo>(RoomOf(queue), std::move(dropped));
}

Made MakePriority(const Json& queue, Chance, DropCallback dropped)
{
    return std::make_unique<Priority>(RoomOf(queue), std::move(dropped));
}

Made MakeCodel(const Json& queue, Chance, DropCallback dropped)
{
    return std::make_unique<Codel>(RoomOf(queue), CodelLawOf(queue), std::move(dropped));
}

Made MakeFqCodel(const Json& queue, Chance, DropCallback dropped)
{
    return std::make_unique<FqCodel>(
        RoomOf(queue), queue.at("flows"), queue.at("quantum"), CodelLawOf(queue), std::move(dropped));
}

Made MakePie(const Json& queue, Chance chance, DropCallback dropped)
{
    const Pie::Settings settings{queue.at("target"), queue.at("interval"), queue.at("burst")};
    return std::make_unique<Pie>(RoomOf(queue), settings, std::move(chance), std::move(dropped));
}

Made MakeRed(const Json& queue, Chance chance, DropCallback dropped)
{
    const Red::Settings settings{queue.at("minimum"), queue.at("maximum"), queue.at("probability"), queue.at("weight")};
    if (settings.minimum >= settings.maximum)
    {
        throw OutOfRange("queue cannot be " + queue.dump() + "; its minimum is below its maximum");
    }
    return std::make_unique<Red>(RoomOf(queue), settings, std::move(chance), std::move(dropped));
}

Made MakeAred(const Json& queue, Chance chance, DropCallback dropped)
{
    return std::make_unique<Ared>(RoomOf(queue), queue.at("target"), queue.at("interval"), std::move(chance), std::move(dropped));
}

/// Lines of equal weights, to which flows are hashed.
Weights EqualWeights(const Json& queue)
{
    return Weights(queue.at("flows").get<std::size_t>(), 1);
}

Made MakeScheduled(const Json& queue, std::unique_ptr<Scheduler> scheduler, DropCallback dropped)
{
    return std::make_unique<Scheduled>(RoomOf(queue), queue.at("flows"), std::move(scheduler), std::move(dropped));
}

Made MakeDrr(const Json& queue, Chance, DropCallback dropped)
{
    return MakeScheduled(queue, std::make_unique<Drr>(EqualWeights(queue), queue.at("quantum")), std::move(dropped));
}

Made MakeScfq(const Json& queue, Chance, DropCallback dropped)
{
    return MakeScheduled(queue, std::make_unique<Scfq>(EqualWeights(queue)), std::move(dropped));
}

Made MakeWf2qPlus(const Json& queue, Chance, DropCallback dropped)
{
    return MakeScheduled(queue, std::make_unique<Wf2qPlus>(EqualWeights(queue)), std::move(dropped));
}

Made MakeQfq(const Json& queue, Chance, DropCallback dropped)
{
    return MakeScheduled(queue, std::make_unique<Qfq>(EqualWeights(queue), queue.at("quantum"), 1), std::move(dropped));
}

Made MakeQfqPlus(const Json& queue, Chance, DropCallback dropped)
{
    auto scheduler = std::make_unique<Qfq>(EqualWeights(queue), queue.at("quantum"), QFQ_PLUS_AGGREGATE);
    return MakeScheduled(queue, std::move(scheduler), std::move(dropped));
}

} // namespace

std::unique_ptr<Discipline> MakeDiscipline(const Json& queue, Chance chance, DropCallback dropped)
{
    static const std::map<std::string, Made (*)(const Json&, Chance, DropCallback)> makers{{"fifo", MakeFifo},
                                                                                           {"priority", MakePriority},
                                                                                           {"codel", MakeCodel},
                                                                                           {"fq-codel", MakeFqCodel},
                                                                                           {"pie", MakePie},
                                                                                           {"red", MakeRed},
                                                                                           {"ared", MakeAred},
                                                                                           {"drr", MakeDrr},
                                                                                           {"scfq", MakeScfq},
                                                                                           {"wf2q+", MakeWf2qPlus},
                                                                                           {"qfq", MakeQfq},
                                                                                           {"qfq+", MakeQfqPlus}};
    const std::string name = queue.at("discipline");
    const auto maker = makers.find(name);
    if (maker == makers.end())
    {
        throw OutOfRange("queue: no discipline " + name);
    }
    return maker->second(queue, std::move(chance), std::move(dropped));
}

} // namespace netboxit::queueing
