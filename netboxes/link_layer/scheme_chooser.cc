// SPDX-License-Identifier: GPL-2.0-or-later
#include "scheme_chooser.h"

#include "settings_reader.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace netboxit::multiservice
{

namespace
{

/// Frames of which a loss is told: of fewer, one that is lost would be 2 % and more. Our own choice.
constexpr std::uint64_t LEAST_FRAMES = 50;
/// Of a choice's `above`, below which it is left. Our own choice.
constexpr double LEFT_BELOW = 0.5;

std::size_t ChoicesOf(const Json& service)
{
    const auto choices = service.find("choices");
    return choices == service.end() || choices->is_null() ? 0 : choices->size();
}

/// A service with one of its choices; one without choices as it is.
Json With(const Json& service, std::size_t choice)
{
    const auto choices = ChoicesOf(service);
    if (choices == 0)
    {
        return service;
    }
    auto chosen = service.at("choices").at(std::min(choice, choices - 1));
    for (const auto* key : {"class", "share", "queue"})
    {
        chosen[key] = service.at(key);
    }
    return chosen;
}

} // namespace

SchemeChooser::SchemeChooser(Timebase& timebase,
                             const MultiServiceLink& one,
                             const MultiServiceLink& other,
                             std::function<void()> change)
    : m_ends{&one, &other},
      m_change(std::move(change)),
      m_looking(timebase, [this] { Look(); })
{
}

void SchemeChooser::Set(const Json& services, double interval)
{
    std::vector<std::size_t> choices(services.size(), 0);
    for (std::size_t service = 0; service < std::min(services.size(), m_services.size()); ++service)
    {
        if (ChoicesOf(services[service]) == ChoicesOf(m_services[service]))
        {
            choices[service] = m_choices[service];
        }
    }
    m_services = services;
    m_choices = std::move(choices);
    m_interval = std::llround(interval * stages::NS_PER_S);
    m_looking.Stop();
    if (MostChoices(services) > 1)
    {
        m_looking.Start(m_interval);
    }
}

Json SchemeChooser::Chosen(const Json& services) const
{
    auto chosen = Json::array();
    for (std::size_t service = 0; service < services.size(); ++service)
    {
        chosen.push_back(With(services[service], service < m_choices.size() ? m_choices[service] : 0));
    }
    return chosen;
}

Json SchemeChooser::WithChoice(const Json& services, std::size_t choice)
{
    auto chosen = Json::array();
    std::ranges::transform(services, std::back_inserter(chosen), [&](const Json& service) { return With(service, choice); });
    return chosen;
}

std::size_t SchemeChooser::MostChoices(const Json& services)
{
    std::size_t most = 1;
    for (const auto& service : services)
    {
        most = std::max(most, ChoicesOf(service));
    }
    return most;
}

std::optional<double> SchemeChooser::LossOf(std::size_t end)
{
    Counts counts;
    for (std::size_t service = 0; service < m_ends[end]->Services(); ++service)
    {
        const auto& statistics = m_ends[end]->StatisticsOf(static_cast<ServiceId>(service));
        counts.damaged += statistics.damagedFrames;
        counts.frames += statistics.damagedFrames + statistics.receivedFrames;
    }
    const auto before = std::exchange(m_before[end], counts);
    // Counts that began anew are fewer.
    if (counts.frames < before.frames + LEAST_FRAMES || counts.damaged < before.damaged)
    {
        return std::nullopt;
    }
    return static_cast<double>(counts.damaged - before.damaged) / static_cast<double>(counts.frames - before.frames);
}

void SchemeChooser::Look()
{
    m_looking.Start(m_interval);
    std::optional<double> loss;
    for (std::size_t end = 0; end < m_ends.size(); ++end)
    {
        if (const auto own = LossOf(end))
        {
            loss = std::max(loss.value_or(0), *own);
        }
    }
    if (!loss)
    {
        return;
    }
    const auto before = m_choices;
    for (std::size_t service = 0; service < m_services.size(); ++service)
    {
        const auto count = ChoicesOf(m_services[service]);
        const auto above = [&](std::size_t choice) { return m_services[service].at("choices").at(choice).at("above").get<double>(); };
        auto& choice = m_choices[service];
        while (choice + 1 < count && *loss > above(choice + 1))
        {
            ++choice;
        }
        while (choice > 0 && *loss < LEFT_BELOW * above(choice))
        {
            --choice;
        }
    }
    if (m_choices != before)
    {
        m_change();
    }
}

} // namespace netboxit::multiservice
