// SPDX-License-Identifier: GPL-2.0-or-later
#include "web_pages.h"

#include "http_message.h"

#include <charconv>
#include <cmath>

namespace netboxit
{

namespace
{

constexpr std::size_t MOST_PAGES = 100'000;
constexpr std::size_t MOST_OBJECTS = 1000;
constexpr double LARGEST = 1e12;
constexpr double LONGEST_S = 1e6;

std::vector<double> ReadNumbers(Section& page, const std::string& key, double least, double most)
{
    std::vector<double> numbers;
    for (const auto& number : page.List(key))
    {
        if (!number.is_number() || number.get<double>() < least || number.get<double>() > most)
        {
            page.Refuse(key, "has " + number.dump() + ", not a number from " + Json(least).dump() + " to " + Json(most).dump());
        }
        numbers.push_back(number);
    }
    return numbers;
}

WebPage ReadPage(const Json& json, const std::string& path)
{
    Section section(json, path);
    WebPage page{.objects = {},
                 .parsing = std::llround(section.NumberOr("parse_s", 0, 0, LONGEST_S) * 1e9),
                 .thinking = std::llround(section.NumberOr("think_s", 0, 0, LONGEST_S) * 1e9)};
    const auto bytes = ReadNumbers(section, "objects", 0, LARGEST);
    const auto requests = ReadNumbers(section, "requests", 0, http::LONGEST_HEAD / 2);
    section.Finish();
    if (bytes.empty() || bytes.size() > MOST_OBJECTS || requests.size() != bytes.size())
    {
        section.Refuse("objects", "a page has 1 to " + std::to_string(MOST_OBJECTS) + " of them, and as many requests");
    }
    for (std::size_t object = 0; object < bytes.size(); ++object)
    {
        page.objects.push_back({static_cast<std::uint64_t>(bytes[object]), static_cast<std::size_t>(requests[object])});
    }
    return page;
}

} // namespace

std::vector<WebPage> ReadPages(Section& configuration)
{
    std::vector<WebPage> pages;
    for (const auto& json : configuration.List("pages"))
    {
        pages.push_back(ReadPage(json, configuration.Path("pages") + "[" + std::to_string(pages.size()) + "]"));
    }
    if (pages.empty() || pages.size() > MOST_PAGES)
    {
        configuration.Refuse("pages", "there are 1 to " + std::to_string(MOST_PAGES) + " of them");
    }
    return pages;
}

std::string TargetOf(std::size_t page, std::size_t object)
{
    return "/" + std::to_string(page) + "/" + std::to_string(object);
}

const WebPage::Object* FindObject(const std::vector<WebPage>& pages, std::string_view target)
{
    std::size_t page = 0;
    std::size_t object = 0;
    const auto* const end = target.data() + target.size();
    if (!target.starts_with('/'))
    {
        return nullptr;
    }
    const auto first = std::from_chars(target.data() + 1, end, page);
    if (first.ec != std::errc() || first.ptr == end || *first.ptr != '/')
    {
        return nullptr;
    }
    const auto second = std::from_chars(first.ptr + 1, end, object);
    const bool is = second.ec == std::errc() && second.ptr == end && page < pages.size() && object < pages[page].objects.size();
    return is ? &pages[page].objects[object] : nullptr;
}

} // namespace netboxit
