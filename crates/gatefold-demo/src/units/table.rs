//! The units, each by its exact definition.
//!
//! Sources: the SI brochure (9th edition), and NIST Special Publication 811 (2008) for the inch,
//! the pound and what derives from them. Volumes without a country are those of the USA; the
//! calorie is the thermochemical one, the BTU that of the International Table.

/// What a unit measures. Units of one dimension convert into each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum Dimension {
    Length,
    Area,
    Volume,
    Mass,
    Time,
    Temperature,
    Speed,
    Data,
    Energy,
    Power,
    Pressure,
    Angle,
}

/// A unit: a value in it, plus the offset, times the factor, is the value in the base unit.
#[derive(Debug)]
pub(super) struct Unit {
    pub(super) symbol: &'static str,
    /// In the singular; a plural in `s` is understood.
    pub(super) names: &'static [&'static str],
    pub(super) dimension: Dimension,
    /// Numerator and denominator.
    pub(super) factor: (i128, i128),
    /// In hundredths.
    pub(super) offset: i128,
}

const fn unit(
    symbol: &'static str,
    names: &'static [&'static str],
    dimension: Dimension,
    numerator: i128,
    denominator: i128,
) -> Unit {
    Unit { symbol, names, dimension, factor: (numerator, denominator), offset: 0 }
}

const fn degree(
    symbol: &'static str,
    names: &'static [&'static str],
    factor: (i128, i128),
    offset: i128,
) -> Unit {
    Unit { symbol, names, dimension: Dimension::Temperature, factor, offset }
}

pub(super) const UNITS: &[Unit] = {
    use Dimension::{
        Angle, Area, Data, Energy, Length, Mass, Power, Pressure, Speed, Time, Volume,
    };
    &[
        unit("nm", &["nanometre", "nanometer"], Length, 1, 1_000_000_000),
        unit("um", &["micrometre", "micrometer", "µm"], Length, 1, 1_000_000),
        unit("mm", &["millimetre", "millimeter"], Length, 1, 1_000),
        unit("cm", &["centimetre", "centimeter"], Length, 1, 100),
        unit("m", &["metre", "meter"], Length, 1, 1),
        unit("km", &["kilometre", "kilometer"], Length, 1_000, 1),
        unit("in", &["inch", "inches"], Length, 254, 10_000),
        unit("ft", &["foot", "feet"], Length, 3_048, 10_000),
        unit("yd", &["yard"], Length, 9_144, 10_000),
        unit("mi", &["mile"], Length, 1_609_344, 1_000),
        unit("nmi", &["nautical mile"], Length, 1_852, 1),
        unit("cm2", &["square centimetre", "square centimeter", "cm²"], Area, 1, 10_000),
        unit("m2", &["square metre", "square meter", "m²"], Area, 1, 1),
        unit("ha", &["hectare"], Area, 10_000, 1),
        unit("km2", &["square kilometre", "square kilometer", "km²"], Area, 1_000_000, 1),
        unit("ft2", &["square foot", "square feet", "ft²"], Area, 9_290_304, 100_000_000),
        unit("acre", &[], Area, 40_468_564_224, 10_000_000),
        unit("ml", &["millilitre", "milliliter", "mL"], Volume, 1, 1_000),
        unit("l", &["litre", "liter", "L"], Volume, 1, 1),
        unit("m3", &["cubic metre", "cubic meter", "m³"], Volume, 1_000, 1),
        unit("tsp", &["teaspoon"], Volume, 3_785_411_784, 768_000_000_000),
        unit("tbsp", &["tablespoon"], Volume, 3_785_411_784, 256_000_000_000),
        unit("floz", &["fluid ounce", "fl oz"], Volume, 3_785_411_784, 128_000_000_000),
        unit("cup", &[], Volume, 3_785_411_784, 16_000_000_000),
        unit("pt", &["pint"], Volume, 3_785_411_784, 8_000_000_000),
        unit("qt", &["quart"], Volume, 3_785_411_784, 4_000_000_000),
        unit("gal", &["gallon"], Volume, 3_785_411_784, 1_000_000_000),
        unit("mg", &["milligram"], Mass, 1, 1_000_000),
        unit("g", &["gram"], Mass, 1, 1_000),
        unit("kg", &["kilogram"], Mass, 1, 1),
        unit("t", &["tonne", "metric ton"], Mass, 1_000, 1),
        unit("oz", &["ounce"], Mass, 45_359_237, 1_600_000_000),
        unit("lb", &["pound"], Mass, 45_359_237, 100_000_000),
        unit("st", &["stone"], Mass, 635_029_318, 100_000_000),
        unit("ms", &["millisecond"], Time, 1, 1_000),
        unit("s", &["second"], Time, 1, 1),
        unit("min", &["minute"], Time, 60, 1),
        unit("h", &["hour"], Time, 3_600, 1),
        unit("d", &["day"], Time, 86_400, 1),
        unit("wk", &["week"], Time, 604_800, 1),
        degree("K", &["kelvin"], (1, 1), 0),
        degree("C", &["celsius", "degree celsius", "°C"], (1, 1), 27_315),
        degree("F", &["fahrenheit", "degree fahrenheit", "°F"], (5, 9), 45_967),
        unit("m/s", &["metre per second", "meter per second"], Speed, 1, 1),
        unit("km/h", &["kilometre per hour", "kilometer per hour", "kph"], Speed, 5, 18),
        unit("mph", &["mile per hour", "miles per hour"], Speed, 44_704, 100_000),
        unit("kn", &["knot"], Speed, 1_852, 3_600),
        unit("bit", &[], Data, 1, 8),
        unit("B", &["byte"], Data, 1, 1),
        unit("kB", &["kilobyte", "KB"], Data, 1_000, 1),
        unit("MB", &["megabyte"], Data, 1_000_000, 1),
        unit("GB", &["gigabyte"], Data, 1_000_000_000, 1),
        unit("TB", &["terabyte"], Data, 1_000_000_000_000, 1),
        unit("KiB", &["kibibyte"], Data, 1 << 10, 1),
        unit("MiB", &["mebibyte"], Data, 1 << 20, 1),
        unit("GiB", &["gibibyte"], Data, 1 << 30, 1),
        unit("TiB", &["tebibyte"], Data, 1 << 40, 1),
        unit("J", &["joule"], Energy, 1, 1),
        unit("kJ", &["kilojoule"], Energy, 1_000, 1),
        unit("cal", &["calorie"], Energy, 4_184, 1_000),
        unit("kcal", &["kilocalorie"], Energy, 4_184, 1),
        unit("Wh", &["watt hour"], Energy, 3_600, 1),
        unit("kWh", &["kilowatt hour"], Energy, 3_600_000, 1),
        unit("BTU", &["british thermal unit"], Energy, 105_505_585_262, 100_000_000),
        unit("W", &["watt"], Power, 1, 1),
        unit("kW", &["kilowatt"], Power, 1_000, 1),
        unit("MW", &["megawatt"], Power, 1_000_000, 1),
        unit("hp", &["horsepower"], Power, 74_569_987_158_227_022, 100_000_000_000_000),
        unit("Pa", &["pascal"], Pressure, 1, 1),
        unit("hPa", &["hectopascal"], Pressure, 100, 1),
        unit("kPa", &["kilopascal"], Pressure, 1_000, 1),
        unit("bar", &[], Pressure, 100_000, 1),
        unit("atm", &["atmosphere"], Pressure, 101_325, 1),
        unit("psi", &["pound per square inch"], Pressure, 44_482_216_152_605, 6_451_600_000),
        unit("deg", &["degree", "°"], Angle, 1, 360),
        unit("grad", &["gradian", "gon"], Angle, 1, 400),
        unit("turn", &["revolution"], Angle, 1, 1),
        unit("arcmin", &["arcminute"], Angle, 1, 21_600),
        unit("arcsec", &["arcsecond"], Angle, 1, 1_296_000),
    ]
};

/// Finds a unit by its symbol, letter for letter, or by a name in any case.
pub(super) fn find(text: &str) -> Option<&'static Unit> {
    let text = text.trim();
    let lower = text.to_lowercase();
    let singular = lower.strip_suffix('s').unwrap_or(&lower);
    let is_named = |unit: &&Unit| {
        unit.names.iter().any(|name| *name == text || *name == lower || *name == singular)
            || unit.symbol == singular
    };
    UNITS.iter().find(|unit| unit.symbol == text).or_else(|| UNITS.iter().find(is_named))
}
