// SPDX-License-Identifier: GPL-2.0-or-later
#include "options.h"

#include <getopt.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <string_view>

namespace netboxit::click
{

namespace
{

int Number(std::string_view option, std::string_view text, int maximum)
{
    int value{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size() || value < 0 || value > maximum)
    {
        throw BadOption(std::string(option) + " takes a number from 0 to " + std::to_string(maximum) +
                        ", not '" + std::string(text) + "'");
    }
    return value;
}

void Define(std::map<std::string, std::string>& defines, std::string_view text)
{
    const auto equals = text.find('=');
    const auto name = text.substr(0, equals);
    const auto isPart = [](unsigned char letter) { return std::isalnum(letter) != 0 || letter == '_'; };
    if (equals == std::string_view::npos || name.empty() || !std::all_of(name.begin(), name.end(), isPart))
    {
        throw BadOption("--define takes NAME=VALUE with letters, digits and _ in NAME, not '" +
                        std::string(text) + "'");
    }
    if (!defines.emplace(name, text.substr(equals + 1)).second)
    {
        throw BadOption("--define " + std::string(name) + " is given twice");
    }
}

void AddMemory(std::map<std::string, MemoryInterface>& memory, std::string_view text)
{
    const auto equals = text.find('=');
    const auto colon = text.rfind(':');
    const auto end = colon == std::string_view::npos ? "" : text.substr(colon + 1);
    if (equals == 0 || equals == std::string_view::npos || colon <= equals + 1 ||
        (end != "left" && end != "right"))
    {
        throw BadOption("--memory takes NAME=FOLDER:left or NAME=FOLDER:right, not '" + std::string(text) +
                        "'");
    }
    const MemoryInterface interface {
        std::string(text.substr(equals + 1, colon - equals - 1)), end == "left" ? WireEnd::Left
                                                                                : WireEnd::Right
    };
    if (!memory.emplace(text.substr(0, equals), interface).second)
    {
        throw BadOption("--memory " + std::string(text.substr(0, equals)) + " is given twice");
    }
}

} // namespace

Options ReadOptions(int argc, char** argv)
{
    static const option KNOWN[] = {{"control", required_argument, nullptr, 'c'},
                                   {"statistics", required_argument, nullptr, 's'},
                                   {"journal", required_argument, nullptr, 'j'},
                                   {"stages", required_argument, nullptr, 't'},
                                   {"define", required_argument, nullptr, 'd'},
                                   {"memory", required_argument, nullptr, 'm'},
                                   {"priority", required_argument, nullptr, 'p'},
                                   {"wait", required_argument, nullptr, 'w'},
                                   {"check", no_argument, nullptr, 'k'},
                                   {nullptr, 0, nullptr, 0}};
    Options options;
    opterr = 0;
    for (int found = 0; (found = getopt_long(argc, argv, "", KNOWN, nullptr)) != -1;)
    {
        switch (found)
        {
        case 'c':
            options.control = optarg;
            break;
        case 's':
            options.statistics = optarg;
            break;
        case 'j':
            options.journal = optarg;
            break;
        case 't':
            options.stages = optarg;
            break;
        case 'd':
            Define(options.defines, optarg);
            break;
        case 'm':
            AddMemory(options.memory, optarg);
            break;
        case 'p':
            options.priority = Number("--priority", optarg, 99);
            break;
        case 'w':
            options.wait = std::chrono::seconds(Number("--wait", optarg, 3600));
            break;
        case 'k':
            options.check = true;
            break;
        default:
            throw BadOption("'" + std::string(argv[optind - 1]) + "' is unknown or lacks its value");
        }
    }
    if (optind != argc - 1)
    {
        throw BadOption(optind == argc ? "no configuration is given"
                                       : "more than one configuration is given");
    }
    options.configuration = argv[optind];
    return options;
}

} // namespace netboxit::click
