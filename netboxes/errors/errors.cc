// SPDX-License-Identifier: GPL-2.0-or-later
#include "errors.h"

#include "byte_intervals.h"
#include "gilbert_elliott.h"
#include "gilbert_elliott_in_time.h"
#include "independent.h"
#include "lost_frames.h"
#include "lost_periods.h"
#include "two_state.h"

namespace netboxit::errors
{

namespace
{

std::unique_ptr<ErrorModel> Make(const std::string& name, const queueing::Chance& chance, const queueing::Chance& ofFades)
{
    if (name == "independent")
    {
        return std::make_unique<Independent>(chance);
    }
    if (name == "gilbert-elliott")
    {
        return std::make_unique<GilbertElliott>(chance);
    }
    if (name == "gilbert-elliott-in-time")
    {
        return std::make_unique<GilbertElliottInTime>(chance, ofFades);
    }
    if (name == "two-state")
    {
        return std::make_unique<TwoState>(chance, ofFades);
    }
    if (name == "byte-intervals")
    {
        return std::make_unique<ByteIntervals>(chance);
    }
    if (name == "lost-frames")
    {
        return std::make_unique<LostFrames>();
    }
    return std::make_unique<LostPeriods>();
}

} // namespace

Errors::Errors(queueing::Chance chance, queueing::Chance ofFades)
    : m_chance(std::move(chance)), m_chanceOfFades(std::move(ofFades))
{
}

void Errors::Set(const Json& value, std::int64_t now)
{
    const std::string name = value.at("model");
    if (name == m_name && m_model)
    {
        m_model->Set(value, now);
        return;
    }
    auto model = Make(name, m_chance, m_chanceOfFades);
    model->Set(value, now);
    if (m_began)
    {
        model->Begin(now);
    }
    m_model = std::move(model);
    m_name = name;
}

void Errors::Begin(std::int64_t now)
{
    m_began = true;
    m_model->Begin(now);
}

bool Errors::IsLost(const Transmission& frame)
{
    return m_model->IsLost(frame);
}

} // namespace netboxit::errors
