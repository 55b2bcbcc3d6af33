/** Whether the tutorial is offered: on the first visit, until it is started or declined or a game is played. */

const KEY = "claimeven.welcome";

class Welcome {
  offered = $state(read());

  end(): void {
    this.offered = false;
    try {
      localStorage.setItem(KEY, "over");
    } catch {
      // Without storage, it is offered again on the next visit.
    }
  }
}

function read(): boolean {
  try {
    return localStorage.getItem(KEY) === null;
  } catch {
    return false;
  }
}

export const welcome = new Welcome();
