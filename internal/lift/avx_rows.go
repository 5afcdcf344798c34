package lift

import (
	"golang.org/x/arch/x86/x86asm"

	"symchef/internal/ir"
)

// predicate16 returns the immediate of a compare of AVX, which has more predicates than that of SSE; they differ in pairs in exceptions only.
func predicate16(in *Inst) (uint64, error) {
	imm, err := imm8(in, 2)
	return imm & 15, err
}

// v is the row of an instruction that is exact.
func v(f lifter) row { return row{lift: f} }

// vf is the row of one that rounds.
func vf(f lifter) row { return row{f, sticky} }

// Moves, masks, the upper halves.
func init() {
	register(map[x86asm.Op]row{
		x86asm.VMOVAPS:   {moveVec, noAlign},
		x86asm.VMOVAPD:   {moveVec, noAlign},
		x86asm.VMOVDQA:   {moveVec, noAlign},
		x86asm.VMOVUPS:   v(moveVec),
		x86asm.VMOVUPD:   v(moveVec),
		x86asm.VMOVDQU:   v(moveVec),
		x86asm.VLDDQU:    v(moveVec),
		x86asm.VMOVNTDQ:  {moveVec, noAlign},
		x86asm.VMOVNTPS:  {moveVec, noAlign},
		x86asm.VMOVNTPD:  {moveVec, noAlign},
		x86asm.VMOVNTDQA: {moveVec, noAlign},
		x86asm.VMOVD:     v(like(x86asm.MOVD)),
		x86asm.VMOVQ:     v(like(x86asm.MOVQ)),
		x86asm.VMOVSS:    v(moveLow(x86asm.MOVSS)),
		x86asm.VMOVSD:    v(moveLow(x86asm.MOVSD_XMM)),
		x86asm.VMOVLPS:   v(moveTwo(x86asm.MOVLPS)),
		x86asm.VMOVLPD:   v(moveTwo(x86asm.MOVLPD)),
		x86asm.VMOVHPS:   v(moveTwo(x86asm.MOVHPS)),
		x86asm.VMOVHPD:   v(moveTwo(x86asm.MOVHPD)),
		x86asm.VMOVLHPS:  v(into(x86asm.MOVLHPS)),
		x86asm.VMOVHLPS:  v(into(x86asm.MOVHLPS)),
		x86asm.VMOVDDUP:  v(apart128(x86asm.MOVDDUP)),
		x86asm.VMOVSLDUP: v(apart128(x86asm.MOVSLDUP)),
		x86asm.VMOVSHDUP: v(apart128(x86asm.MOVSHDUP)),
		x86asm.VLDMXCSR:  {like(x86asm.LDMXCSR), "unmasking an exception is not supported"},
		x86asm.VSTMXCSR:  v(like(x86asm.STMXCSR)),

		x86asm.VZEROALL:   v(clearAll),
		x86asm.VZEROUPPER: v(clearUppers),

		x86asm.VPMOVMSKB:   v(masks(8)),
		x86asm.VMOVMSKPS:   v(masks(32)),
		x86asm.VMOVMSKPD:   v(masks(64)),
		x86asm.VMASKMOVDQU: {like(x86asm.MASKMOVDQU), "touches all 16 bytes"},
		x86asm.VPTEST:      v(testBits(0)),
		x86asm.VTESTPS:     v(testBits(32)),
		x86asm.VTESTPD:     v(testBits(64)),
	})
}

// Lanes rearranged, chosen and spread.
func init() {
	register(map[x86asm.Op]row{
		x86asm.VPSHUFD:    v(apart128(x86asm.PSHUFD)),
		x86asm.VPSHUFLW:   v(apart128(x86asm.PSHUFLW)),
		x86asm.VPSHUFHW:   v(apart128(x86asm.PSHUFHW)),
		x86asm.VSHUFPS:    v(each128(x86asm.SHUFPS)),
		x86asm.VSHUFPD:    v(parted(x86asm.SHUFPD, 2)),
		x86asm.VBLENDPS:   v(parted(x86asm.BLENDPS, 4)),
		x86asm.VBLENDPD:   v(parted(x86asm.BLENDPD, 2)),
		x86asm.VPBLENDW:   v(each128(x86asm.PBLENDW)),
		x86asm.VPBLENDD:   v(blendDwords),
		x86asm.VBLENDVPS:  v(blendBy(32)),
		x86asm.VBLENDVPD:  v(blendBy(64)),
		x86asm.VPBLENDVB:  v(blendBy(8)),
		x86asm.VMPSADBW:   v(parted(x86asm.MPSADBW, 3)),
		x86asm.VPERMILPS:  v(permuteInHalf(32)),
		x86asm.VPERMILPD:  v(permuteInHalf(64)),
		x86asm.VPERM2F128: v(permuteHalves),
		x86asm.VPERM2I128: v(permuteHalves),
		x86asm.VPERMD:     v(permuteDwords),
		x86asm.VPERMPS:    v(permuteDwords),
		x86asm.VPERMQ:     v(permuteQuads),
		x86asm.VPERMPD:    v(permuteQuads),

		x86asm.VBROADCASTSS:   v(broadcast(32)),
		x86asm.VBROADCASTSD:   v(broadcast(64)),
		x86asm.VBROADCASTF128: v(broadcast(128)),
		x86asm.VBROADCASTI128: v(broadcast(128)),
		x86asm.VPBROADCASTB:   v(broadcast(8)),
		x86asm.VPBROADCASTW:   v(broadcast(16)),
		x86asm.VPBROADCASTD:   v(broadcast(32)),
		x86asm.VPBROADCASTQ:   v(broadcast(64)),
	})
}

// Lanes taken out and put in, strings, shifts by lane, wider lanes.
func init() {
	register(map[x86asm.Op]row{
		x86asm.VINSERTF128:  v(insertHalf),
		x86asm.VINSERTI128:  v(insertHalf),
		x86asm.VEXTRACTF128: v(extractHalf),
		x86asm.VEXTRACTI128: v(extractHalf),
		x86asm.VPINSRB:      v(into(x86asm.PINSRB)),
		x86asm.VPINSRW:      v(into(x86asm.PINSRW)),
		x86asm.VPINSRD:      v(into(x86asm.PINSRD)),
		x86asm.VPINSRQ:      v(into(x86asm.PINSRQ)),
		x86asm.VINSERTPS:    v(into(x86asm.INSERTPS)),
		x86asm.VPEXTRB:      v(like(x86asm.PEXTRB)),
		x86asm.VPEXTRW:      v(like(x86asm.PEXTRW)),
		x86asm.VPEXTRD:      v(like(x86asm.PEXTRD)),
		x86asm.VPEXTRQ:      v(like(x86asm.PEXTRQ)),
		x86asm.VEXTRACTPS:   v(like(x86asm.EXTRACTPS)),
		x86asm.VPCMPESTRI:   v(like(x86asm.PCMPESTRI)),
		x86asm.VPCMPISTRI:   v(like(x86asm.PCMPISTRI)),
		x86asm.VPCMPESTRM:   v(stringMask(x86asm.PCMPESTRM)),
		x86asm.VPCMPISTRM:   v(stringMask(x86asm.PCMPISTRM)),
		x86asm.VPHMINPOSUW:  v(apart128(x86asm.PHMINPOSUW)),
		x86asm.VPSLLVD:      v(shiftEach(ir.Shl, 32)),
		x86asm.VPSLLVQ:      v(shiftEach(ir.Shl, 64)),
		x86asm.VPSRLVD:      v(shiftEach(ir.LShr, 32)),
		x86asm.VPSRLVQ:      v(shiftEach(ir.LShr, 64)),
		x86asm.VPSRAVD:      v(shiftEach(ir.AShr, 32)),

		x86asm.VPMOVSXBW: v(widenLanes(ir.VSxt, 8, 16)),
		x86asm.VPMOVSXBD: v(widenLanes(ir.VSxt, 8, 32)),
		x86asm.VPMOVSXBQ: v(widenLanes(ir.VSxt, 8, 64)),
		x86asm.VPMOVSXWD: v(widenLanes(ir.VSxt, 16, 32)),
		x86asm.VPMOVSXWQ: v(widenLanes(ir.VSxt, 16, 64)),
		x86asm.VPMOVSXDQ: v(widenLanes(ir.VSxt, 32, 64)),
		x86asm.VPMOVZXBW: v(widenLanes(ir.VZxt, 8, 16)),
		x86asm.VPMOVZXBD: v(widenLanes(ir.VZxt, 8, 32)),
		x86asm.VPMOVZXBQ: v(widenLanes(ir.VZxt, 8, 64)),
		x86asm.VPMOVZXWD: v(widenLanes(ir.VZxt, 16, 32)),
		x86asm.VPMOVZXWQ: v(widenLanes(ir.VZxt, 16, 64)),
		x86asm.VPMOVZXDQ: v(widenLanes(ir.VZxt, 32, 64)),
	})
}

// Floats.
func init() {
	register(map[x86asm.Op]row{
		x86asm.VROUNDPS:   vf(apart128(x86asm.ROUNDPS)),
		x86asm.VROUNDPD:   vf(apart128(x86asm.ROUNDPD)),
		x86asm.VROUNDSS:   vf(each128(x86asm.ROUNDSS)),
		x86asm.VROUNDSD:   vf(each128(x86asm.ROUNDSD)),
		x86asm.VSQRTPS:    vf(apart128(x86asm.SQRTPS)),
		x86asm.VSQRTPD:    vf(apart128(x86asm.SQRTPD)),
		x86asm.VSQRTSS:    vf(each128(x86asm.SQRTSS)),
		x86asm.VSQRTSD:    vf(each128(x86asm.SQRTSD)),
		x86asm.VCMPPS:     vf(byHalf{row: packed(ir.FCmp, 32, predicate16)}.lift),
		x86asm.VCMPPD:     vf(byHalf{row: packed(ir.FCmp, 64, predicate16)}.lift),
		x86asm.VCMPSS:     vf(byHalf{row: scalarImm(ir.FCmp, 32, predicate16)}.lift),
		x86asm.VCMPSD:     vf(byHalf{row: scalarImm(ir.FCmp, 64, predicate16)}.lift),
		x86asm.VCOMISS:    vf(like(x86asm.COMISS)),
		x86asm.VCOMISD:    vf(like(x86asm.COMISD)),
		x86asm.VUCOMISS:   vf(like(x86asm.UCOMISS)),
		x86asm.VUCOMISD:   vf(like(x86asm.UCOMISD)),
		x86asm.VCVTSI2SS:  vf(into(x86asm.CVTSI2SS)),
		x86asm.VCVTSI2SD:  vf(into(x86asm.CVTSI2SD)),
		x86asm.VCVTSS2SI:  vf(like(x86asm.CVTSS2SI)),
		x86asm.VCVTSD2SI:  vf(like(x86asm.CVTSD2SI)),
		x86asm.VCVTTSS2SI: vf(like(x86asm.CVTTSS2SI)),
		x86asm.VCVTTSD2SI: vf(like(x86asm.CVTTSD2SI)),
		x86asm.VCVTSS2SD:  vf(each128(x86asm.CVTSS2SD)),
		x86asm.VCVTSD2SS:  vf(each128(x86asm.CVTSD2SS)),
		x86asm.VCVTDQ2PS:  vf(apart128(x86asm.CVTDQ2PS)),
		x86asm.VCVTPS2DQ:  vf(apart128(x86asm.CVTPS2DQ)),
		x86asm.VCVTTPS2DQ: vf(apart128(x86asm.CVTTPS2DQ)),
		x86asm.VCVTDQ2PD:  vf(widenFloat(ir.Uop{Op: ir.FFromI, W: 64, X: 32})),
		x86asm.VCVTPS2PD:  vf(widenFloat(ir.Uop{Op: ir.FCvt, W: 32, X: 64})),
		x86asm.VCVTPD2PS:  vf(narrowTo(ir.Uop{Op: ir.FCvt, W: 64, X: 32})),
		x86asm.VCVTPD2DQ:  vf(narrowTo(ir.Uop{Op: ir.FToI, W: 64, X: 32})),
		x86asm.VCVTTPD2DQ: vf(narrowTo(ir.Uop{Op: ir.FToI, W: 64, X: 32, Imm: 1})),
	})
}

// Instructions that do to each half what one of SSE does.
func init() {
	for op, sse := range map[x86asm.Op]x86asm.Op{
		x86asm.VPADDB: x86asm.PADDB, x86asm.VPADDW: x86asm.PADDW, x86asm.VPADDD: x86asm.PADDD, x86asm.VPADDQ: x86asm.PADDQ,
		x86asm.VPSUBB: x86asm.PSUBB, x86asm.VPSUBW: x86asm.PSUBW, x86asm.VPSUBD: x86asm.PSUBD, x86asm.VPSUBQ: x86asm.PSUBQ,
		x86asm.VPADDSB: x86asm.PADDSB, x86asm.VPADDSW: x86asm.PADDSW, x86asm.VPADDUSB: x86asm.PADDUSB, x86asm.VPADDUSW: x86asm.PADDUSW,
		x86asm.VPSUBSB: x86asm.PSUBSB, x86asm.VPSUBSW: x86asm.PSUBSW, x86asm.VPSUBUSB: x86asm.PSUBUSB, x86asm.VPSUBUSW: x86asm.PSUBUSW,
		x86asm.VPMULLW: x86asm.PMULLW, x86asm.VPMULLD: x86asm.PMULLD, x86asm.VPMULHW: x86asm.PMULHW, x86asm.VPMULHUW: x86asm.PMULHUW,
		x86asm.VPMULHRSW: x86asm.PMULHRSW, x86asm.VPMULUDQ: x86asm.PMULUDQ, x86asm.VPMULDQ: x86asm.PMULDQ,
		x86asm.VPMADDWD: x86asm.PMADDWD, x86asm.VPMADDUBSW: x86asm.PMADDUBSW, x86asm.VPSADBW: x86asm.PSADBW,
		x86asm.VPAVGB: x86asm.PAVGB, x86asm.VPAVGW: x86asm.PAVGW,
		x86asm.VPMINUB: x86asm.PMINUB, x86asm.VPMINUW: x86asm.PMINUW, x86asm.VPMINUD: x86asm.PMINUD,
		x86asm.VPMINSB: x86asm.PMINSB, x86asm.VPMINSW: x86asm.PMINSW, x86asm.VPMINSD: x86asm.PMINSD,
		x86asm.VPMAXUB: x86asm.PMAXUB, x86asm.VPMAXUW: x86asm.PMAXUW, x86asm.VPMAXUD: x86asm.PMAXUD,
		x86asm.VPMAXSB: x86asm.PMAXSB, x86asm.VPMAXSW: x86asm.PMAXSW, x86asm.VPMAXSD: x86asm.PMAXSD,
		x86asm.VPCMPEQB: x86asm.PCMPEQB, x86asm.VPCMPEQW: x86asm.PCMPEQW, x86asm.VPCMPEQD: x86asm.PCMPEQD, x86asm.VPCMPEQQ: x86asm.PCMPEQQ,
		x86asm.VPCMPGTB: x86asm.PCMPGTB, x86asm.VPCMPGTW: x86asm.PCMPGTW, x86asm.VPCMPGTD: x86asm.PCMPGTD, x86asm.VPCMPGTQ: x86asm.PCMPGTQ,
		x86asm.VPAND: x86asm.PAND, x86asm.VPANDN: x86asm.PANDN, x86asm.VPOR: x86asm.POR, x86asm.VPXOR: x86asm.PXOR,
		x86asm.VANDPS: x86asm.ANDPS, x86asm.VANDPD: x86asm.ANDPD, x86asm.VANDNPS: x86asm.ANDNPS, x86asm.VANDNPD: x86asm.ANDNPD,
		x86asm.VORPS: x86asm.ORPS, x86asm.VORPD: x86asm.ORPD, x86asm.VXORPS: x86asm.XORPS, x86asm.VXORPD: x86asm.XORPD,
		x86asm.VPSLLW: x86asm.PSLLW, x86asm.VPSLLD: x86asm.PSLLD, x86asm.VPSLLQ: x86asm.PSLLQ,
		x86asm.VPSRLW: x86asm.PSRLW, x86asm.VPSRLD: x86asm.PSRLD, x86asm.VPSRLQ: x86asm.PSRLQ,
		x86asm.VPSRAW: x86asm.PSRAW, x86asm.VPSRAD: x86asm.PSRAD, x86asm.VPSLLDQ: x86asm.PSLLDQ, x86asm.VPSRLDQ: x86asm.PSRLDQ,
		x86asm.VPACKSSWB: x86asm.PACKSSWB, x86asm.VPACKSSDW: x86asm.PACKSSDW, x86asm.VPACKUSWB: x86asm.PACKUSWB, x86asm.VPACKUSDW: x86asm.PACKUSDW,
		x86asm.VPUNPCKLBW: x86asm.PUNPCKLBW, x86asm.VPUNPCKLWD: x86asm.PUNPCKLWD, x86asm.VPUNPCKLDQ: x86asm.PUNPCKLDQ, x86asm.VPUNPCKLQDQ: x86asm.PUNPCKLQDQ,
		x86asm.VPUNPCKHBW: x86asm.PUNPCKHBW, x86asm.VPUNPCKHWD: x86asm.PUNPCKHWD, x86asm.VPUNPCKHDQ: x86asm.PUNPCKHDQ, x86asm.VPUNPCKHQDQ: x86asm.PUNPCKHQDQ,
		x86asm.VUNPCKLPS: x86asm.UNPCKLPS, x86asm.VUNPCKLPD: x86asm.UNPCKLPD, x86asm.VUNPCKHPS: x86asm.UNPCKHPS, x86asm.VUNPCKHPD: x86asm.UNPCKHPD,
		x86asm.VPSHUFB: x86asm.PSHUFB, x86asm.VPALIGNR: x86asm.PALIGNR,
		x86asm.VPHADDW: x86asm.PHADDW, x86asm.VPHADDD: x86asm.PHADDD, x86asm.VPHADDSW: x86asm.PHADDSW,
		x86asm.VPHSUBW: x86asm.PHSUBW, x86asm.VPHSUBD: x86asm.PHSUBD, x86asm.VPHSUBSW: x86asm.PHSUBSW,
		x86asm.VPSIGNB: x86asm.PSIGNB, x86asm.VPSIGNW: x86asm.PSIGNW, x86asm.VPSIGND: x86asm.PSIGND,
	} {
		register(map[x86asm.Op]row{op: v(each128(sse))})
	}
	for op, sse := range map[x86asm.Op]x86asm.Op{x86asm.VPABSB: x86asm.PABSB, x86asm.VPABSW: x86asm.PABSW, x86asm.VPABSD: x86asm.PABSD} {
		register(map[x86asm.Op]row{op: v(apart128(sse))})
	}
	for op, sse := range map[x86asm.Op]x86asm.Op{
		x86asm.VADDPS: x86asm.ADDPS, x86asm.VADDPD: x86asm.ADDPD, x86asm.VADDSS: x86asm.ADDSS, x86asm.VADDSD: x86asm.ADDSD,
		x86asm.VSUBPS: x86asm.SUBPS, x86asm.VSUBPD: x86asm.SUBPD, x86asm.VSUBSS: x86asm.SUBSS, x86asm.VSUBSD: x86asm.SUBSD,
		x86asm.VMULPS: x86asm.MULPS, x86asm.VMULPD: x86asm.MULPD, x86asm.VMULSS: x86asm.MULSS, x86asm.VMULSD: x86asm.MULSD,
		x86asm.VDIVPS: x86asm.DIVPS, x86asm.VDIVPD: x86asm.DIVPD, x86asm.VDIVSS: x86asm.DIVSS, x86asm.VDIVSD: x86asm.DIVSD,
		x86asm.VMINPS: x86asm.MINPS, x86asm.VMINPD: x86asm.MINPD, x86asm.VMINSS: x86asm.MINSS, x86asm.VMINSD: x86asm.MINSD,
		x86asm.VMAXPS: x86asm.MAXPS, x86asm.VMAXPD: x86asm.MAXPD, x86asm.VMAXSS: x86asm.MAXSS, x86asm.VMAXSD: x86asm.MAXSD,
		x86asm.VADDSUBPS: x86asm.ADDSUBPS, x86asm.VADDSUBPD: x86asm.ADDSUBPD,
		x86asm.VHADDPS: x86asm.HADDPS, x86asm.VHADDPD: x86asm.HADDPD, x86asm.VHSUBPS: x86asm.HSUBPS, x86asm.VHSUBPD: x86asm.HSUBPD,
	} {
		register(map[x86asm.Op]row{op: vf(each128(sse))})
	}
	for op, sse := range map[x86asm.Op]x86asm.Op{x86asm.VDPPS: x86asm.DPPS, x86asm.VDPPD: x86asm.DPPD} {
		register(map[x86asm.Op]row{op: {each128(sse), sticky + someNaN}})
	}
}
