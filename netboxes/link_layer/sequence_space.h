// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace netboxit::multiservice
{

/// Sequence numbers of some bits, at most 16.
class SequenceSpace
{
  public:
    using Number = std::uint16_t;

    explicit SequenceSpace(unsigned bits) : m_mask((1U << bits) - 1)
    {
    }

    Number Plus(Number number, std::uint32_t count) const
    {
        return static_cast<Number>((number + count) & m_mask);
    }

    Number Next(Number number) const
    {
        return Plus(number, 1);
    }

    Number Before(Number number, std::uint32_t count = 1) const
    {
        return static_cast<Number>((number - count) & m_mask);
    }

    /// From one number up to another one.
    std::uint32_t Distance(Number from, Number to) const
    {
        return (static_cast<std::uint32_t>(to) - from) & m_mask;
    }

    std::uint32_t Size() const
    {
        return m_mask + 1;
    }

    std::uint32_t Half() const
    {
        return Size() / 2;
    }

  private:
    std::uint32_t m_mask;
};

/// A value for each of some consecutive numbers, in a ring as long as a power of two.
template <typename Value>
class SequenceRing
{
  public:
    using Number = SequenceSpace::Number;

    explicit SequenceRing(std::size_t capacity) : m_values(capacity)
    {
    }

    std::size_t Capacity() const
    {
        return m_values.size();
    }

    Value& operator[](Number number)
    {
        return m_values[number & (m_values.size() - 1)];
    }

    const Value& operator[](Number number) const
    {
        return m_values[number & (m_values.size() - 1)];
    }

    /// Becomes longer; the values of all numbers from `first` stay.
    void Grow(std::size_t capacity, const SequenceSpace& space, Number first)
    {
        SequenceRing longer(capacity);
        for (std::uint32_t number = 0; number < m_values.size(); ++number)
        {
            longer[space.Plus(first, number)] = std::move((*this)[space.Plus(first, number)]);
        }
        *this = std::move(longer);
    }

  private:
    std::vector<Value> m_values;
};

} // namespace netboxit::multiservice
