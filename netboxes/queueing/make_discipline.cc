// SPDX-License-Identifier: GPL-2.0-or-later
#include "make_discipline.h"

#include "ared.h"
#include "by_class.h"
#include "by_station.h"
#include "cake.h"
#include "cascade.h"
#include "dualpi2.h"
#include "fq_codel.h"
#include "make_scheduler.h"
#include "pie.h"
#include "red.h"
#include "scheduled.h"

#include <cmath>
#include <map>

namespace netboxit::queueing
{

namespace
{

CodelLaw CodelLawOf(const Json& queue)
{
    return {std::llround(queue.at("target").get<double>() * 1e9), std::llround(queue.at("interval").get<double>() * 1e9), 1514};
}

using Made = std::unique_ptr<Discipline>;

Made MakeFifo(const Json& queue, Chance, DropCallback dropped, MarkCallback)
{
    return std::make_unique<Fifo>(RoomOf(queue), std::move(dropped));
}

Made MakeCodel(const Json& queue, Chance, DropCallback dropped, MarkCallback mark)
{
    return std::make_unique<Codel>(RoomOf(queue), CodelLawOf(queue), std::move(dropped), std::move(mark));
}

Made MakeFqCodel(const Json& queue, Chance, DropCallback dropped, MarkCallback mark)
{
    return std::make_unique<FqCodel>(
        RoomOf(queue), queue.at("flows"), queue.at("quantum"), CodelLawOf(queue), std::move(dropped), std::move(mark));
}

Made MakeCake(const Json& queue, Chance chance, DropCallback dropped, MarkCallback mark)
{
    const std::string name = queue.at("isolation");
    const auto isolation = std::ranges::find(ISOLATION_NAMES, name);
    if (isolation == ISOLATION_NAMES.end())
    {
        throw OutOfRange("queue: isolation cannot be " + name + "; it is flows, dual-srchost, dual-dsthost or triple-isolate");
    }
    const Cake::Settings settings{.flows = queue.at("flows"),
                                  .quantum = queue.at("quantum"),
                                  .isolation = static_cast<Isolation>(isolation - ISOLATION_NAMES.begin())};
    const CobaltLaw law(std::llround(queue.at("target").get<double>() * 1e9), std::llround(queue.at("interval").get<double>() * 1e9));
    return std::make_unique<Cake>(RoomOf(queue), settings, law, std::move(chance), std::move(dropped), std::move(mark));
}

Made MakePie(const Json& queue, Chance chance, DropCallback dropped, MarkCallback mark)
{
    const Pie::Settings settings{queue.at("target"), queue.at("interval"), queue.at("burst")};
    return std::make_unique<Pie>(RoomOf(queue), settings, std::move(chance), std::move(dropped), std::move(mark));
}

Made MakeRed(const Json& queue, Chance chance, DropCallback dropped, MarkCallback mark)
{
    const Red::Settings settings{queue.at("minimum"), queue.at("maximum"), queue.at("probability"), queue.at("weight")};
    if (settings.minimum >= settings.maximum)
    {
        throw OutOfRange("queue cannot be " + queue.dump() + "; its minimum is below its maximum");
    }
    return std::make_unique<Red>(RoomOf(queue), settings, std::move(chance), std::move(dropped), std::move(mark));
}

Made MakeAred(const Json& queue, Chance chance, DropCallback dropped, MarkCallback mark)
{
    return std::make_unique<Ared>(RoomOf(queue), queue.at("target"), queue.at("interval"), std::move(chance), std::move(dropped), std::move(mark));
}

Made MakeDualPi2(const Json& queue, Chance, DropCallback dropped, MarkCallback mark)
{
    const DualPi2::Settings settings{.target = queue.at("target"),
                                     .interval = queue.at("interval"),
                                     .rtt = queue.at("rtt"),
                                     .coupling = queue.at("coupling"),
                                     .step = queue.at("step"),
                                     .protection = queue.at("protection"),
                                     .shift = queue.at("shift")};
    return std::make_unique<DualPi2>(RoomOf(queue), settings, std::move(dropped), std::move(mark));
}

std::unique_ptr<Scheduler> SchedulerOf(const Json& queue, const Weights& weights)
{
    return MakeScheduler(queue.at("discipline"), weights, queue.value("quantum", 1514U));
}

Made MakeByClass(const Json& queue, Chance chance, DropCallback dropped, MarkCallback mark)
{
    if (!HasClasses(queue))
    {
        throw OutOfRange("queue: " + queue.at("discipline").get<std::string>() + " needs lines, one for each traffic class");
    }
    Weights weights;
    std::vector<Made> disciplines;
    for (const auto& line : queue.at("lines"))
    {
        const auto& own = line.at("queue");
        if (own.at("discipline") == "priority" || own.at("discipline") == "modular" || HasClasses(own))
        {
            throw OutOfRange("queue: nesting too deep; the queue of a class has no classes of its own");
        }
        if (!own.value("rate", Json()).is_null())
        {
            throw OutOfRange("queue: the rate is that of the whole queue; say it there, not for a class");
        }
        weights.push_back(line.at("weight"));
        disciplines.push_back(MakeDiscipline(own, chance, dropped, mark));
    }
    auto scheduler = SchedulerOf(queue, weights);
    return std::make_unique<ByClass>(std::move(disciplines), std::move(scheduler));
}

/// Lines by traffic class; or lines of equal weights, to which flows are hashed.
Made MakeScheduled(const Json& queue, Chance chance, DropCallback dropped, MarkCallback mark)
{
    if (HasClasses(queue))
    {
        return MakeByClass(queue, std::move(chance), std::move(dropped), std::move(mark));
    }
    const std::size_t lines = queue.at("flows");
    return std::make_unique<Scheduled>(RoomOf(queue), lines, SchedulerOf(queue, Weights(lines, 1)), std::move(dropped));
}

/// Grazia, "Communication Networks for Public Protection and Disaster Relief Systems", 4.1.2: QoS layer, prefetcher and MAC-SAL.
Made MakeModular(const Json& queue, Chance chance, DropCallback dropped, MarkCallback mark, const Channel* channel)
{
    if (!channel)
    {
        throw OutOfRange("queue: modular needs the state of each receiver's radio channel, which this technology does not tell its "
                         "queues; use wf2q+ or qfq+");
    }
    auto qos = queue;
    qos["discipline"] = queue.at("qos").at("scheduler");
    const auto& mac = queue.at("mac");
    const auto policy = std::ranges::find(WEIGHT_POLICY_NAMES, mac.at("weights").get<std::string>());
    auto scheduler = policy == WEIGHT_POLICY_NAMES.end()
                         ? nullptr
                         : MakeWeightedScheduler(mac.at("scheduler"), Weights(channel->Stations().size() + 1, 1), queue.at("quantum"));
    if (!scheduler)
    {
        throw OutOfRange("queue: mac cannot be " + mac.dump() +
                         "; its scheduler is drr, scfq, wf2q+, qfq or qfq+, its weights are constant, linear, exponential or analogical");
    }
    return std::make_unique<Cascade>(
        MakeDiscipline(qos, std::move(chance), std::move(dropped), std::move(mark)),
        std::make_unique<ByStation>(*channel, static_cast<WeightPolicy>(policy - WEIGHT_POLICY_NAMES.begin()), std::move(scheduler)),
        std::llround(queue.at("prefetch").get<double>()),
        [](const Waiting& frame) { return frame; });
}

} // namespace

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

bool HasClasses(const Json& queue)
{
    return !queue.value("lines", Json()).is_null();
}

std::unique_ptr<Discipline> MakeDiscipline(
    const Json& queue, Chance chance, DropCallback dropped, MarkCallback mark, const Channel* channel)
{
    static const std::map<std::string, Made (*)(const Json&, Chance, DropCallback, MarkCallback)> makers{{"fifo", MakeFifo},
                                                                                           {"priority", MakeByClass},
                                                                                           {"codel", MakeCodel},
                                                                                           {"fq-codel", MakeFqCodel},
                                                                                           {"cake", MakeCake},
                                                                                           {"pie", MakePie},
                                                                                           {"red", MakeRed},
                                                                                           {"ared", MakeAred},
                                                                                           {"dualpi2", MakeDualPi2},
                                                                                           {"drr", MakeScheduled},
                                                                                           {"scfq", MakeScheduled},
                                                                                           {"wf2q+", MakeScheduled},
                                                                                           {"qfq", MakeScheduled},
                                                                                           {"qfq+", MakeScheduled}};
    const std::string name = queue.at("discipline");
    if (name == "modular")
    {
        return MakeModular(queue, std::move(chance), std::move(dropped), std::move(mark), channel);
    }
    const auto maker = makers.find(name);
    if (maker == makers.end())
    {
        throw OutOfRange("queue: no discipline " + name);
    }
    const bool marks = HasClasses(queue) || queue.value("ecn", name == "dualpi2"); // each line says itself whether it does
    const auto never = [](const Waiting&, Mark) { return false; };
    return maker->second(
        queue, std::move(chance), std::move(dropped), marks ? std::move(mark) : MarkCallback(never));
}

Maker MakerOf(const Channel* channel)
{
    return [channel](const Json& queue, Chance chance, DropCallback dropped, MarkCallback mark)
    { return MakeDiscipline(queue, std::move(chance), std::move(dropped), std::move(mark), channel); };
}

} // namespace netboxit::queueing
