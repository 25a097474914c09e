#pragma once
#include <span>
#include <string>
#include <vector>

namespace mirrorscale::harness {

/// Numbers the sessions of launches, in the order given: launches that started within `gap_s` of the one
/// before (in time) belong to the same session. `started` as in a run record, "2024-06-07T09:30:00Z". Throws
/// std::invalid_argument for text that is no such time.
std::vector<int> session_numbers(std::span<const std::string> started, double gap_s);

/// Seconds since 1970 of "2024-06-07T09:30:00Z"; a fraction of a second is dropped.
double seconds_of_utc(const std::string& time);

}  // namespace mirrorscale::harness
