#pragma once

namespace mirrorscale::scenarios {

/// What the command tells its caller.
enum ExitStatus : int {
  kGood = 0,
  kFinding = 1,      // an invariant failed, a verdict is bad, a regression, a training that is not finite
  kMisuse = 2,       // wrong arguments; nothing was done
  kCouldNotRun = 3,  // data, files, devices, or the machine
  // Plus the number of the signal, as shells say it: 130 after SIGINT, 143 after SIGTERM. What was begun is
  // saved.
  kStoppedBySignal = 128,
};

}  // namespace mirrorscale::scenarios
