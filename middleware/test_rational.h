// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <compare>
#include <cstdint>
#include <numeric>

namespace netboxit::middleware::testing
{

/// An exact fraction. Numbers of these tests fit in 64 bits, their products in 128.
class Rational
{
  public:
    __extension__ using Wide = __int128;

    constexpr Rational(std::int64_t number = 0) : m_numerator(number)
    {
    }

    Rational operator+(const Rational& other) const
    {
        return Reduced(m_numerator * other.m_denominator + other.m_numerator * m_denominator, m_denominator * other.m_denominator);
    }

    Rational operator-(const Rational& other) const
    {
        return Reduced(m_numerator * other.m_denominator - other.m_numerator * m_denominator, m_denominator * other.m_denominator);
    }

    Rational operator/(const Rational& other) const
    {
        const auto sign = other.m_numerator < 0 ? -1 : 1;
        return Reduced(sign * m_numerator * other.m_denominator, sign * m_denominator * other.m_numerator);
    }

    bool operator==(const Rational& other) const = default;

    std::strong_ordering operator<=>(const Rational& other) const
    {
        return m_numerator * other.m_denominator <=> other.m_numerator * m_denominator;
    }

    /// Towards minus infinity.
    std::int64_t Floor() const
    {
        const auto quotient = m_numerator / m_denominator;
        return static_cast<std::int64_t>(quotient * m_denominator > m_numerator ? quotient - 1 : quotient);
    }

  private:
    static Rational Reduced(Wide numerator, Wide denominator)
    {
        Wide left = numerator < 0 ? -numerator : numerator;
        Wide right = denominator;
        while (right != 0)
        {
            const auto rest = left % right;
            left = right;
            right = rest;
        }
        Rational made;
        made.m_numerator = numerator / left;
        made.m_denominator = denominator / left;
        return made;
    }

    Wide m_numerator;
    Wide m_denominator{1};
};

} // namespace netboxit::middleware::testing
