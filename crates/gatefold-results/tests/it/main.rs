mod hostile;
mod preview;
mod reach;
mod reading;
mod shown;
