// Times launches as sparrow-bench's `Samples` does: a first launch, batches that grow until one fills a sample, then
// samples within a budget.
#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <vector>

namespace samples {

constexpr std::size_t min_samples = 5;
constexpr std::size_t max_samples = 31;
constexpr double budget_us = 400e3;
constexpr double sample_us = 4e3;

struct Times {
    std::vector<double> sorted_us;
    std::uint64_t launches = 0;

    double quantile(double share) const {
        const double at = std::round(share * static_cast<double>(sorted_us.size() - 1));
        return sorted_us[static_cast<std::size_t>(at)];
    }
};

template <typename Body> double time_us(Body body) {
    const auto start = std::chrono::steady_clock::now();
    body();
    return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start).count();
}

// Once unheard, because a first call may build programs; then the median of what fits in 0.1 s, 3 to 15 times.
template <typename Body> double set_up_us(Body body) {
    body();
    std::vector<double> times_us;
    double spent = 0;
    while (times_us.size() < 3 || (times_us.size() < 15 && spent < 100e3)) {
        times_us.push_back(time_us(body));
        spent += times_us.back();
    }
    std::sort(times_us.begin(), times_us.end());
    return times_us[times_us.size() / 2];
}

template <typename Launch, typename Finish> Times take(Launch launch, Finish finish) {
    const auto batch = [&](std::uint64_t launches) {
        return time_us([&] {
            for (std::uint64_t k = 0; k < launches; ++k) {
                launch();
            }
            finish();
        });
    };
    batch(1);
    std::uint64_t launches = 1;
    while (batch(launches) < sample_us && launches < (1 << 16)) {
        launches *= 2;
    }
    Times times;
    double spent = 0;
    while (times.sorted_us.size() < max_samples && (times.sorted_us.size() < min_samples || spent < budget_us)) {
        const double us = batch(launches);
        spent += us;
        times.sorted_us.push_back(us / static_cast<double>(launches));
    }
    std::sort(times.sorted_us.begin(), times.sorted_us.end());
    times.launches = launches * times.sorted_us.size();
    return times;
}

} // namespace samples
