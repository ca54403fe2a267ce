// SPDX-License-Identifier: GPL-2.0-or-later
#include "class_statistics.h"

#include "make_discipline.h"

namespace netboxit::queueing
{

std::vector<std::string> ClassStatistics::NamesIn(const Json& queue)
{
    std::vector<std::string> names;
    if (HasClasses(queue))
    {
        for (const auto& line : queue.at("lines"))
        {
            const auto name = line.value("class", Json());
            if (!name.is_string())
            {
                throw OutOfRange("queue: its lines." + std::to_string(names.size()) + ".class is the name of a traffic class");
            }
            names.push_back(name);
        }
    }
    return names;
}

void ClassStatistics::Begin(const std::vector<std::string>& names, std::int64_t now)
{
    std::vector<Class> classes;
    for (const auto& name : names)
    {
        const auto before = std::ranges::find(m_classes, name, &Class::name);
        auto& own = classes.emplace_back(name);
        if (before != m_classes.end())
        {
            own.statistics = before->statistics;
        }
        else
        {
            own.statistics.Reset(now);
        }
    }
    m_classes = std::move(classes);
}

Json ClassStatistics::Read(std::int64_t now) const
{
    auto told = Json::array();
    for (const auto& own : m_classes)
    {
        told.push_back(own.statistics.Read(own.packets, own.bytes, now));
        told.back()["class"] = own.name;
    }
    return told;
}

void ClassStatistics::Reset(std::int64_t now)
{
    for (auto& own : m_classes)
    {
        own.statistics.Reset(now);
    }
}

} // namespace netboxit::queueing
